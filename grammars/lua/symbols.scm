; The captures are explained in lsp_complete/text/syntax.py.

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function

(function_declaration
  name: [
    (dot_index_expression table: (_) @parent field: (identifier) @name)
    (method_index_expression table: (_) @parent method: (identifier) @name)
  ]
  body: (_)? @body) @definition.method

((assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function)

(chunk [
  (variable_declaration (assignment_statement (variable_list name: (identifier) @name)))
  (assignment_statement (variable_list name: (identifier) @name))
] @definition.variable)

(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name) .)
  (expression_list . value: (function_definition body: (_)? @body))) @definition.method

(chunk (assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name))) @definition.field)

(field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.method

(function_call name: (identifier) @reference)

(dot_index_expression field: (identifier) @reference)

(method_index_expression method: (identifier) @reference)

((function_call
  name: (identifier) @only
  arguments: (arguments . (string content: (string_content) @module))) @import
  (#set! only "require dofile loadfile"))
