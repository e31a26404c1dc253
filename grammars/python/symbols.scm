; The captures are explained in lsp_complete/text/syntax.py.

(function_definition
  name: (identifier) @name
  body: (block) @body) @definition.function

(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc)))) @definition.function

(class_definition
  name: (identifier) @name
  body: (block) @body) @definition.class

(class_definition
  name: (identifier) @name
  body: (block . (expression_statement (string (string_content) @doc)))) @definition.class

(class_definition
  name: (identifier) @name
  superclasses: (argument_list [
    (identifier) @base
    (attribute) @base
    (subscript value: (_) @base)
  ])) @definition.class

(module (expression_statement (assignment left: (identifier) @name) @definition.variable))

(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @definition.variable))

(class_definition
  body: (block (expression_statement (assignment left: (identifier) @name) @definition.field)))

((assignment left: (attribute object: (identifier) @only attribute: (identifier) @name)) @definition.field
  (#set! only "self"))

(type_alias_statement left: (type [
  (identifier) @name
  (generic_type (identifier) @name)
])) @definition.type

(call function: (identifier) @reference)

(attribute attribute: (identifier) @reference)

(type (identifier) @reference)

(type (binary_operator (identifier) @reference))

(type (generic_type (identifier) @reference))

(class_definition superclasses: (argument_list (identifier) @reference))

(decorator (identifier) @reference)

(import_statement name: [
  (dotted_name) @module
  (aliased_import name: (dotted_name) @module)
]) @import

(import_from_statement
  module_name: (_) @module
  name: [
    (dotted_name) @imported
    (aliased_import name: (dotted_name) @imported)
  ]) @import

(import_from_statement module_name: (_) @module (wildcard_import)) @import
