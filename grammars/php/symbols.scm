; The captures are explained in lsp_complete/text/syntax.py.

(function_definition name: (_) @name body: (_) @body) @definition.function

(method_declaration name: (_) @name body: (_)? @body) @definition.method

([
  (class_declaration name: (_) @name body: (_) @body)
  (trait_declaration name: (_) @name body: (_) @body)
] @definition.class)

(class_declaration name: (_) @name [
  (base_clause (_) @base)
  (class_interface_clause (_) @base)
  (declaration_list (use_declaration (_) @base))
]) @definition.class

(interface_declaration name: (_) @name body: (_) @body) @definition.interface

(interface_declaration name: (_) @name (base_clause (_) @base)) @definition.interface

(enum_declaration name: (_) @name body: (_) @body) @definition.enum

(enum_case name: (_) @name) @definition.constant

(const_declaration (const_element . (name) @name)) @definition.constant

((function_call_expression
  function: (name) @only
  arguments: (arguments . (argument (string (string_content) @name)))) @definition.constant
  (#set! only "define"))

(property_declaration (property_element name: (variable_name (name) @name))) @definition.field

(property_promotion_parameter name: (variable_name (name) @name)) @definition.field

(function_call_expression function: [
  (name) @reference
  (qualified_name (name) @reference)
])

(member_call_expression name: (name) @reference)

(nullsafe_member_call_expression name: (name) @reference)

(scoped_call_expression name: (name) @reference)

(scoped_call_expression scope: (name) @reference)

(member_access_expression name: (name) @reference)

(class_constant_access_expression (name) @reference)

(object_creation_expression (name) @reference)

(named_type [
  (name) @reference
  (qualified_name (name) @reference)
])

(base_clause (name) @reference)

(class_interface_clause (name) @reference)

(use_declaration (name) @reference)

(attribute (name) @reference)

(namespace_use_declaration (namespace_use_clause [
  (name) @module
  (qualified_name prefix: (namespace_name) @module (name) @imported)
])) @import

(namespace_use_declaration
  (namespace_name) @module
  body: (namespace_use_group (namespace_use_clause . (name) @imported))) @import

(require_expression [
  (string) @module
  (binary_expression right: (string) @module)
]) @import

(require_once_expression [
  (string) @module
  (binary_expression right: (string) @module)
]) @import

(include_expression [
  (string) @module
  (binary_expression right: (string) @module)
]) @import

(include_once_expression [
  (string) @module
  (binary_expression right: (string) @module)
]) @import
