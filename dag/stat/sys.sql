-- SPDX-License-Identifier: MIT

--- sys of op by operation: latency of each operation
{with}SELECT {keys}, o.latency_ns, o.result < 0 AS failed, {order_of o.id} AS place
FROM {op id name latency_ns result} {joins o}
{where o.start_ns | o.start_ns}
