; The captures are explained in lsp_complete/text/syntax.py.

([
  (class_declaration name: (_) @name body: (_) @body)
  (record_declaration name: (_) @name body: (_) @body)
] @definition.class)

([
  (class_declaration name: (_) @name superclass: (superclass [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . (_) @base)
  ]))
  (class_declaration name: (_) @name interfaces: (super_interfaces (type_list [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . (_) @base)
  ])))
  (record_declaration name: (_) @name interfaces: (super_interfaces (type_list [
    (type_identifier) @base
    (scoped_type_identifier) @base
    (generic_type . (_) @base)
  ])))
] @definition.class)

([
  (interface_declaration name: (_) @name body: (_) @body)
  (annotation_type_declaration name: (_) @name body: (_) @body)
] @definition.interface)

(interface_declaration name: (_) @name (extends_interfaces (type_list [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type . (_) @base)
]))) @definition.interface

(enum_declaration name: (_) @name body: (_) @body) @definition.enum

(enum_declaration name: (_) @name interfaces: (super_interfaces (type_list [
  (type_identifier) @base
  (scoped_type_identifier) @base
  (generic_type . (_) @base)
]))) @definition.enum

([
  (method_declaration name: (_) @name body: (_)? @body)
  (constructor_declaration name: (_) @name body: (_) @body)
  (compact_constructor_declaration name: (_) @name body: (_) @body)
  (annotation_type_element_declaration name: (_) @name)
] @definition.method)

([
  (field_declaration declarator: (variable_declarator name: (identifier) @name))
  (constant_declaration declarator: (variable_declarator name: (identifier) @name))
] @definition.field)

(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.field))

(enum_constant name: (_) @name) @definition.constant

(method_invocation name: (_) @reference)

(field_access field: (identifier) @reference)

(type_identifier) @reference

(marker_annotation name: (identifier) @reference)

(annotation name: (identifier) @reference)

(import_declaration (scoped_identifier scope: (_) @module name: (_) @imported) . ";") @import

(import_declaration (_) @module (asterisk)) @import
