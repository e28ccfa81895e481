"""Ids of the signatures whose fields the rules read, and the ids that mean the same in several wordings."""

from __future__ import annotations

TASK_FAILED = "hccl/task-failed"
TASK_REMOTE = "hccl/task-failed-remote"
TASK_GROUP = "hccl/task-failed-group"
TASK_OP = "hccl/task-failed-op"
NOTIFY_WAIT = "hccl/notify-wait-timeout"
AICPU_WAIT = "hccl/aicpu-task-notify"
AICPU_OP = "hccl/aicpu-op-info"
FFTSPLUS_TIMEOUT = "hccl/fftsplus-timeout"
SDMA = ("hccl/sdma-fftsplus-error", "hccl/aicpu-task-exception", "hccl/aicpu-task-sdma", "hccl/ei0012-sdma")

AGENTS_MISSING = "hccl/agents-missing"
AGENTS_CONNECT_FAILED = "hccl/agents-connect-failed"
RANK_DETECT_FAILED = "hccl/rank-detect-failed"
CONNECTED_RANKS = "hccl/connected-ranks"
NEEDED_COUNT = "hccl/needed-count"
RANK_LIST_SHORT = "hccl/rank-list-short"
COMM_INIT_FAILED = "hccl/comm-init-failed"
COMM_INIT_SUCCESS = "hccl/comm-init-success"
TOPO_AGENT_TIMEOUT = "hccl/topo-agent-timeout"
TOPO_SERVER_TIMEOUT = "hccl/topo-server-timeout"

LINK_ROW = "hccl/link-error-row"
LINK_DETECTED = "hccl/link-detected-unreachable"
TRANSPORT_INIT = "hccl/transport-init-error"
TRANSPORT_CREATE = "hccl/transport-create-fail"
P2P_TIMEOUT = "hccl/p2p-enable-timeout"
SOCKET_ESTABLISH = "hccl/socket-establish-timeout"

CQE = ("hccl/cqe-error", "hccl/ei0013-cqe")
HEARTBEAT = ("hccl/heartbeat-exception", "hccl/heartbeat-exception-old")
PARAMETERS = ("hccl/parameter-conflict", "hccl/ei0005-parameters")
TLS = ("hccl/tls-inconsistent",)
TLS_SWITCH = "hccl/tls-switch"
LINK_TIMEOUT = "hccl/socket-timeout"
LISTEN_FAIL = ("hccl/listen-fail-in-use", "hccl/socket-listen-eaddrinuse")
NIC_DOWN = ("hccl/device-port-down", "hccl/npu-port-down")
SUPERPOD = "hccl/superpod-mismatch"

ENTRY_COMM_INIT = "hccl/entry-comm-init"
SETUP_AGENT = "hccl/setup-agent"
COMM_INIT_INFO = "hccl/comm-init-info"
COMMUNICATOR_KEY_INFO = "hccl/communicator-key-info"
LOCAL_RANK_KEY_INFO = "hccl/local-rank-key-info"
LISTEN = "hccl/listen-success"
CONNECT_TIMEOUT = "hccl/connect-timeout-env"
EXEC_TIMEOUT = "hccl/exec-timeout-env"
GROUP_RESTART = "launcher/group-restart"
LONG_ACTION = "performance/long-action"
PROGRESS_BAR = "progress/progress-bar"
