"""From a path to sources: layouts, nodes, kinds."""
