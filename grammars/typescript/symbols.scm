; The captures are explained in lsp_complete/text/syntax.py. The TSX folder has the same patterns and those of JSX.

([
  (function_declaration name: (identifier) @name body: (_) @body)
  (generator_function_declaration name: (identifier) @name body: (_) @body)
  (function_signature name: (identifier) @name)
] @definition.function)

([
  (lexical_declaration (variable_declarator name: (identifier) @name value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]))
  (variable_declaration (variable_declarator name: (identifier) @name value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]))
] @definition.function)

(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]) @definition.function

([
  (class_declaration name: (type_identifier) @name body: (_) @body)
  (abstract_class_declaration name: (type_identifier) @name body: (_) @body)
] @definition.class)

([
  (class_declaration name: (type_identifier) @name (class_heritage [
    (extends_clause value: (_) @base)
    (implements_clause [
      (type_identifier) @base
      (nested_type_identifier) @base
      (generic_type name: (_) @base)
    ])
  ]))
  (abstract_class_declaration name: (type_identifier) @name (class_heritage [
    (extends_clause value: (_) @base)
    (implements_clause [
      (type_identifier) @base
      (nested_type_identifier) @base
      (generic_type name: (_) @base)
    ])
  ]))
] @definition.class)

(interface_declaration name: (type_identifier) @name body: (_) @body) @definition.interface

(interface_declaration name: (type_identifier) @name (extends_type_clause [
  (type_identifier) @base
  (nested_type_identifier) @base
  (generic_type name: (_) @base)
])) @definition.interface

(type_alias_declaration name: (type_identifier) @name value: (object_type) @body) @definition.interface

(type_alias_declaration name: (type_identifier) @name) @definition.type

(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum

(enum_body [
  (property_identifier) @name @definition.constant
  (enum_assignment name: (property_identifier) @name) @definition.constant
])

(module name: [
  (string (string_fragment) @name)
  (identifier) @name
  (nested_identifier) @name
] body: (_) @body) @definition.module

(internal_module name: (_) @name body: (_) @body) @definition.module

([
  (method_definition name: (_) @name body: (_) @body)
  (method_signature name: (_) @name)
  (abstract_method_signature name: (_) @name)
] @definition.method)

(pair key: (property_identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @definition.method

(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @definition.method

(public_field_definition name: (_) @name) @definition.field

(required_parameter (accessibility_modifier) pattern: (identifier) @name) @definition.field

(interface_body (property_signature name: (_) @name) @definition.field)

(type_alias_declaration value: (object_type (property_signature name: (_) @name) @definition.field))

(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)) @definition.field

(program [
  (lexical_declaration (variable_declarator name: (identifier) @name))
  (variable_declaration (variable_declarator name: (identifier) @name))
] @definition.variable)

(program [
  (export_statement declaration: [
    (lexical_declaration (variable_declarator name: (identifier) @name))
    (variable_declaration (variable_declarator name: (identifier) @name))
  ] @definition.variable)
  (ambient_declaration [
    (lexical_declaration (variable_declarator name: (identifier) @name))
    (variable_declaration (variable_declarator name: (identifier) @name))
  ] @definition.variable)
])

(call_expression function: (identifier) @reference)

(new_expression constructor: (identifier) @reference)

(member_expression property: (property_identifier) @reference)

(type_identifier) @reference

(extends_clause value: (identifier) @reference)

(decorator (identifier) @reference)

(import_statement source: (string (string_fragment) @module)) @import

(import_statement
  (import_clause [
    (identifier) @imported
    (named_imports (import_specifier name: (_) @imported))
  ])
  source: (string (string_fragment) @module)) @import

(import_statement (import_require_clause source: (string (string_fragment) @module))) @import

(export_statement source: (string (string_fragment) @module)) @import

(export_statement
  (export_clause (export_specifier name: (_) @imported))
  source: (string (string_fragment) @module)) @import

(call_expression
  function: (import)
  arguments: (arguments . (string (string_fragment) @module))) @import

((call_expression
  function: (identifier) @only
  arguments: (arguments . (string (string_fragment) @module))) @import
  (#set! only "require"))
