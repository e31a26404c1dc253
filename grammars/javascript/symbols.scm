; The captures are explained in lsp_complete/text/syntax.py.

([
  (function_declaration name: (identifier) @name body: (_) @body)
  (generator_function_declaration name: (identifier) @name body: (_) @body)
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

((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @parent property: (property_identifier) @only)
    property: (property_identifier) @name)
  right: (function_expression body: (_) @body)) @definition.function
  (#set! only "prototype"))

(class_declaration name: (identifier) @name body: (class_body) @body) @definition.class

(class_declaration name: (identifier) @name (class_heritage (_) @base)) @definition.class

(method_definition name: (_) @name body: (_) @body) @definition.method

(pair key: (property_identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
]) @definition.method

(field_definition property: (_) @name) @definition.field

(assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)) @definition.field

(program [
  (lexical_declaration (variable_declarator name: (identifier) @name))
  (variable_declaration (variable_declarator name: (identifier) @name))
] @definition.variable)

(program (export_statement declaration: [
  (lexical_declaration (variable_declarator name: (identifier) @name))
  (variable_declaration (variable_declarator name: (identifier) @name))
] @definition.variable))

(call_expression function: (identifier) @reference)

(new_expression constructor: (identifier) @reference)

(member_expression property: (property_identifier) @reference)

(class_heritage (identifier) @reference)

(decorator (identifier) @reference)

(jsx_opening_element name: (identifier) @reference)

(jsx_self_closing_element name: (identifier) @reference)

(import_statement source: (string (string_fragment) @module)) @import

(import_statement
  (import_clause [
    (identifier) @imported
    (named_imports (import_specifier name: (_) @imported))
  ])
  source: (string (string_fragment) @module)) @import

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

((variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @imported
    (pair_pattern key: (property_identifier) @imported)
  ])
  value: (call_expression
    function: (identifier) @only
    arguments: (arguments . (string (string_fragment) @module))) @import)
  (#set! only "require"))
