; The captures are explained in lsp_complete/text/syntax.py.

(function_definition name: (word) @name body: (_) @body) @definition.function

(program [
  (variable_assignment name: (variable_name) @name)
  (declaration_command (variable_assignment name: (variable_name) @name))
] @definition.variable)

(command name: (command_name (word) @reference))

((command name: (command_name (word) @only) . argument: (_) @module) @import
  (#set! only "source ."))
