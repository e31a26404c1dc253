; The captures are explained in lsp_complete/text/syntax.py.

(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name)))
  ]
  body: (_) @body) @definition.function

(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name)))
  ]) @definition.function

(declaration
  declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator
      declarator: (array_declarator declarator: (identifier) @name)))
  ]) @definition.variable

([
  (struct_specifier name: (_) @name body: (_) @body)
  (union_specifier name: (_) @name body: (_) @body)
  (type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name)
  (type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name)
] @definition.struct)

([
  (enum_specifier name: (_) @name body: (_) @body)
  (type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name)
] @definition.enum)

(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (type_identifier) @name)))
]) @definition.type

(field_declaration declarator: [
  (field_identifier) @name
  (array_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (field_identifier) @name)))
]) @definition.field

(enumerator name: (_) @name) @definition.constant

(preproc_def name: (_) @name) @definition.macro

(preproc_function_def name: (_) @name value: (_)? @body) @definition.macro

(call_expression function: (identifier) @reference)

(field_expression field: (field_identifier) @reference)

(type_identifier) @reference

(preproc_include path: (_) @module) @import
