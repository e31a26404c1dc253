; The captures are explained in lsp_complete/text/syntax.py.

(function_declaration name: (_) @name (function_body)? @body) @definition.function

(class_declaration "interface" name: (_) @name (class_body)? @body) @definition.interface

(class_declaration
  (modifiers (class_modifier "enum"))
  name: (_) @name
  (enum_class_body)? @body) @definition.enum

(class_declaration name: (_) @name [(class_body) (enum_class_body)]? @body) @definition.class

(class_declaration name: (_) @name (delegation_specifiers (delegation_specifier [
  (user_type (identifier) @base)
  (constructor_invocation (user_type (identifier) @base))
]))) @definition.class

(object_declaration name: (_) @name (class_body)? @body) @definition.class

(type_alias type: (_) @name) @definition.type

(enum_entry (identifier) @name) @definition.constant

(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.variable)

(class_body (property_declaration (variable_declaration (identifier) @name)) @definition.field)

(class_parameter ["val" "var"] (identifier) @name) @definition.field

(call_expression . (identifier) @reference)

(navigation_expression (identifier) @reference .)

(user_type (identifier) @reference)

(import (qualified_identifier (identifier) @imported .) @module) @import

(import (qualified_identifier) @module "*") @import
