# SPDX-License-Identifier: MIT
"""The graph that wfdag --json writes, for networkx."""
from typing import Any, Dict

from .errors import package


def graph_of(written: Dict[str, Any]) -> Any:
    """A DiGraph. Nodes are wfdag's ids (p12, f7); attributes are those of the JSON, without the unknown ones. Two nodes
    with several edges, as a fork and a pipe, have one edge, whose list "more" has the attributes of the others."""
    graph = package("networkx", "a graph").DiGraph()
    graph.graph.update({key: value for key, value in written.items() if key not in ("nodes", "edges")})
    for node in written["nodes"]:
        graph.add_node(node["id"], **{key: value for key, value in node.items() if key != "id" and value is not None})
    for edge in written["edges"]:
        ends = edge["source"], edge["target"]
        attributes = {key: value for key, value in edge.items() if key not in ("source", "target") and value is not None}
        if graph.has_edge(*ends):
            graph.edges[ends].setdefault("more", []).append(attributes)
        else:
            graph.add_edge(*ends, **attributes)
    return graph
