"""What stands in logs of healthy runs: a literal from here lets too much through the gate, so another one is preferred.

The choice of a literal only decides how fast the gate is, never what is found.
"""

from __future__ import annotations

EVERYDAY = """
[INFO] RUNTIME(33120,python3):2026-01-05-10:11:12.345.678 [stream.cc:512]33451 StreamCreate:[LOAD] create stream success, device_id=3, stream_id=17, task_id=402, kernel_name=MatMul, ret=0, size=4096
[EVENT] HCCL(33120,python3):2026-01-05-10:11:12.345.678 [op_base.cc:88]33451 [HcclAllReduce] Entry-group[hccl_world_group]: count[16], dtype[fp32], rank[3], rankSize[8], localRank[3], tag[AllReduce_127.0.0.1%eth0_60000], stream[0x7f00], deviceLogicId[3], takes time [5]us
[WARNING] TDT(33120,python3):2026-01-05-10:11:12.345.678 [log.cpp:90]33451 [GetEnv][tid:33451] env is not set, use default value, timeout=1800s
[ERROR] GE(33120,python3):2026-01-05-10:11:12.345.678 [graph.cc:90]33451 ErrorNo: 0(success) [COMP][PRE_OPT] error code is 0, errorCode=0x0, failed
[ERROR] 2026-01-05-10:11:12 (PID:33120, Device:3, RankID:3) ERR00000 PTA [rank3]: RuntimeError: Exception Failed, call aclnn api failed
  File "/usr/local/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1751, in _wrapped_call_impl
  File "/usr/local/lib/python3.11/site-packages/torch_npu/utils/_step.py", line 52, in call, batch, forward, loss, step
    return self._call_impl(*args, **kwargs)
Traceback (most recent call last):
INFO 01-05 10:11:12 [engine.py:310] (EngineCore pid=33120) (Worker_TP0 pid=33121) Avg prompt throughput: 12.3 tokens/s, Running: 3 reqs, GPU KV cache usage: 2.1%
DEBUG:vllm.worker: model step 12, batch 8, iter 100, epoch 1, loss: 2.31, lr 1e-4, rank 0, world size 8, connect, version, timeout, replay, graph, stream
V0105 10:11:12.345000 33120 torch/_dynamo/guards.py:2800] [0/1] [__guards] TREE_GUARD_MANAGER FakeTensor(..., device='npu:0', size=(8, 16)) torch-npu error
I0105 10:11:12.345000 33120 torch/_inductor/graph.py:100] [0/0] step 12 torchdynamo start tracing, call_function
2026-01-05 10:11:12,345 - root - INFO - Loading PyTorch checkpoint, config, transformers, done
"""  # noqa: E501 - lines of logs are long
