; The captures are explained in lsp_complete/text/syntax.py.

([
  (class_declaration name: (_) @name body: (_) @body)
  (record_declaration name: (_) @name body: (_)? @body)
] @definition.class)

([
  (class_declaration name: (_) @name (base_list [
    (identifier) @base
    (qualified_name) @base
    (generic_name . (identifier) @base)
    (primary_constructor_base_type type: (_) @base)
  ]))
  (record_declaration name: (_) @name (base_list [
    (identifier) @base
    (qualified_name) @base
    (generic_name . (identifier) @base)
    (primary_constructor_base_type type: (_) @base)
  ]))
] @definition.class)

(struct_declaration name: (_) @name body: (_)? @body) @definition.struct

(interface_declaration name: (_) @name body: (_) @body) @definition.interface

(interface_declaration name: (_) @name (base_list [
  (identifier) @base
  (qualified_name) @base
  (generic_name . (identifier) @base)
])) @definition.interface

(enum_declaration name: (_) @name body: (_) @body) @definition.enum

(delegate_declaration name: (_) @name) @definition.type

([
  (namespace_declaration name: (_) @name body: (_) @body)
  (file_scoped_namespace_declaration name: (_) @name)
] @definition.module)

([
  (method_declaration name: (_) @name body: (_)? @body)
  (constructor_declaration name: (_) @name body: (_)? @body)
] @definition.method)

(local_function_statement name: (_) @name body: (_) @body) @definition.function

([
  (field_declaration (variable_declaration (variable_declarator name: (_) @name)))
  (event_field_declaration (variable_declaration (variable_declarator name: (_) @name)))
  (property_declaration name: (_) @name accessors: (_)? @body)
] @definition.field)

(record_declaration (parameter_list (parameter name: (_) @name) @definition.field))

(enum_member_declaration name: (_) @name) @definition.constant

(invocation_expression function: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
])

(member_access_expression name: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
])

(conditional_access_expression (member_binding_expression name: (identifier) @reference))

(object_creation_expression type: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
])

(variable_declaration type: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
  (nullable_type (identifier) @reference)
  (array_type (identifier) @reference)
])

(parameter type: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
  (nullable_type (identifier) @reference)
  (array_type (identifier) @reference)
])

(method_declaration returns: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
  (nullable_type (identifier) @reference)
  (array_type (identifier) @reference)
])

(property_declaration type: [
  (identifier) @reference
  (generic_name . (identifier) @reference)
  (nullable_type (identifier) @reference)
  (array_type (identifier) @reference)
])

(type_argument_list (identifier) @reference)

(type_parameter_constraint type: (identifier) @reference)

(base_list [
  (identifier) @reference
  (generic_name . (identifier) @reference)
])

(attribute name: (identifier) @reference)

(using_directive !name [(identifier) (qualified_name)] @module) @import

(using_directive name: (_) (qualified_name) @module) @import
