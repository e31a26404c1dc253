; The captures are explained in lsp_complete/text/syntax.py.

([
  (function_definition name: (_) @name body: (_) @body)
  (function_declaration name: (_) @name)
] @definition.function)

([
  (class_definition name: (_) @name body: (_)? @body)
  (object_definition name: (_) @name body: (_)? @body)
] @definition.class)

([
  (class_definition name: (_) @name extend: (extends_clause [
    (type_identifier) @base
    (stable_type_identifier) @base
    (generic_type type: (_) @base)
  ]))
  (object_definition name: (_) @name extend: (extends_clause [
    (type_identifier) @base
    (stable_type_identifier) @base
    (generic_type type: (_) @base)
  ]))
] @definition.class)

(trait_definition name: (_) @name body: (_)? @body) @definition.interface

(trait_definition name: (_) @name extend: (extends_clause [
  (type_identifier) @base
  (stable_type_identifier) @base
  (generic_type type: (_) @base)
])) @definition.interface

(enum_definition name: (_) @name body: (_) @body) @definition.enum

([
  (simple_enum_case name: (_) @name)
  (full_enum_case name: (_) @name)
] @definition.constant)

(type_definition name: (_) @name) @definition.type

(given_definition name: (_) @name) @definition.variable

(val_definition pattern: (identifier) @name) @definition.variable

(var_definition pattern: (identifier) @name) @definition.variable

(val_declaration name: (identifier) @name) @definition.field

(var_declaration name: (identifier) @name) @definition.field

(class_definition class_parameters: (class_parameters (class_parameter name: (_) @name) @definition.field))

(call_expression function: [
  (identifier) @reference
  (generic_function function: (identifier) @reference)
])

(field_expression field: (identifier) @reference)

(type_identifier) @reference

(import_declaration . (identifier) @module (identifier) @module @imported .) @import

(import_declaration . (identifier) @module (identifier) @module . (namespace_wildcard)) @import

(import_declaration . (identifier) @module (identifier) @module . (namespace_selectors [
  (identifier) @imported
  (arrow_renamed_identifier name: (_) @imported)
  (as_renamed_identifier name: (_) @imported)
])) @import
