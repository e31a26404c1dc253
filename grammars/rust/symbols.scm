; The captures are explained in lsp_complete/text/syntax.py.

([
  (function_item name: (_) @name body: (_) @body)
  (function_signature_item name: (_) @name)
] @definition.function)

([
  (struct_item name: (_) @name body: (field_declaration_list)? @body)
  (union_item name: (_) @name body: (_) @body)
] @definition.struct)

(enum_item name: (_) @name body: (_) @body) @definition.enum

(trait_item name: (_) @name body: (_) @body) @definition.interface

(trait_item name: (_) @name bounds: (trait_bounds [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type type: (_) @base)
])) @definition.interface

(type_item name: (_) @name) @definition.type

(associated_type name: (_) @name) @definition.type

(mod_item name: (_) @name body: (_) @body) @definition.module

(macro_definition name: (_) @name . "(" @body) @definition.macro

(macro_definition name: (_) @name . "{" @body) @definition.macro

(const_item name: (_) @name) @definition.constant

(static_item name: (_) @name) @definition.variable

(field_declaration name: (_) @name) @definition.field

(enum_variant name: (_) @name) @definition.constant

(impl_item type: [
  (type_identifier) @name
  (scoped_type_identifier name: (_) @name)
  (generic_type type: (type_identifier) @name)
  (generic_type type: (scoped_type_identifier name: (_) @name))
]) @scope

(call_expression function: [
  (identifier) @reference
  (scoped_identifier path: (identifier) @reference)
  (scoped_identifier name: (_) @reference)
  (generic_function function: [
    (identifier) @reference
    (scoped_identifier name: (_) @reference)
  ])
])

(field_expression field: (field_identifier) @reference)

(macro_invocation macro: (identifier) @reference)

(type_identifier) @reference

(use_declaration argument: [
  (identifier) @module
  (use_as_clause path: (identifier) @module)
  (use_wildcard (_) @module)
  (scoped_use_list path: (_) @module list: (use_list (self)))
]) @import

(use_declaration argument: [
  (scoped_identifier path: (_) @module name: (_) @imported)
  (use_as_clause path: (scoped_identifier path: (_) @module name: (_) @imported))
]) @import

(scoped_use_list path: (_) @module list: (use_list [
  (identifier) @imported
  (scoped_identifier name: (_) @imported)
  (use_as_clause path: (identifier) @imported)
  (use_as_clause path: (scoped_identifier name: (_) @imported))
])) @import

(mod_item name: (_) @module !body) @import

(extern_crate_declaration name: (_) @module) @import
