# SPDX-License-Identifier: MIT
"""The tables of wfstat, from the rows of a trace, by their definitions."""
import stattables_calls
import stattables_flow
import stattables_long
import stattables_operations
import stattables_rows
import stattables_time

MODULES = stattables_calls, stattables_flow, stattables_long, stattables_operations, stattables_rows, stattables_time
TABLES = {name.removeprefix("table_"): made for module in MODULES for name, made in vars(module).items() if name.startswith("table_")}
