; The captures are explained in lsp_complete/text/syntax.py.

(template_declaration (class_specifier name: [
  (type_identifier) @name
  (template_type name: (_) @name)
  (qualified_identifier) @name
] body: (_) @body)) @definition.class

(template_declaration (struct_specifier name: [
  (type_identifier) @name
  (template_type name: (_) @name)
  (qualified_identifier) @name
] body: (_) @body)) @definition.struct

(template_declaration (function_definition
  declarator: (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)
  body: (_)? @body)) @definition.function

(template_declaration (function_definition
  declarator: (function_declarator declarator: (qualified_identifier
    scope: [
      (namespace_identifier) @parent
      (template_type name: (_) @parent)
    ]
    name: [(identifier) (operator_name) (destructor_name)] @name))
  body: (_)? @body)) @definition.function

(function_definition
  declarator: [
    (function_declarator declarator: [
      (identifier)
      (field_identifier)
      (operator_name)
      (destructor_name)
    ] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name))
    (pointer_declarator declarator: (pointer_declarator
      declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name)))
    (reference_declarator (function_declarator
      declarator: [(identifier) (field_identifier) (operator_name)] @name))
  ]
  body: (_)? @body) @definition.function

(function_definition
  declarator: [
    (function_declarator declarator: (qualified_identifier
      scope: [
        (namespace_identifier) @parent
        (template_type name: (_) @parent)
      ]
      name: [(identifier) (operator_name) (destructor_name)] @name))
    (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
      scope: (namespace_identifier) @parent
      name: (identifier) @name)))
    (reference_declarator (function_declarator declarator: (qualified_identifier
      scope: (namespace_identifier) @parent
      name: [(identifier) (operator_name)] @name)))
    (function_declarator declarator: (qualified_identifier
      scope: (_) @parent
      name: (qualified_identifier
        scope: (_) @parent
        name: [(identifier) (operator_name) (destructor_name)] @name)))
  ]
  body: (_)? @body) @definition.function

(declaration
  declarator: [
    (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name)))
    (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))
  ]) @definition.function

(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name) (destructor_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]) @definition.method

(declaration
  declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
    (reference_declarator (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (init_declarator declarator: (reference_declarator (identifier) @name))
  ]) @definition.variable

(class_specifier name: [
  (type_identifier) @name
  (template_type name: (_) @name)
  (qualified_identifier) @name
] body: (_) @body) @definition.class

(class_specifier name: [
  (type_identifier) @name
  (template_type name: (_) @name)
  (qualified_identifier) @name
] (base_class_clause [
  (type_identifier) @base
  (qualified_identifier) @base
  (template_type name: (_) @base)
])) @definition.class

([
  (struct_specifier name: [
  (type_identifier) @name
  (template_type name: (_) @name)
  (qualified_identifier) @name
] body: (_) @body)
  (union_specifier name: (_) @name body: (_) @body)
  (type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name)
] @definition.struct)

(struct_specifier name: [
  (type_identifier) @name
  (template_type name: (_) @name)
  (qualified_identifier) @name
] (base_class_clause [
  (type_identifier) @base
  (qualified_identifier) @base
  (template_type name: (_) @base)
])) @definition.struct

([
  (enum_specifier name: (_) @name body: (_) @body)
  (type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name)
] @definition.enum)

(alias_declaration name: (_) @name) @definition.type

(concept_definition name: (_) @name) @definition.type

(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator
    (pointer_declarator declarator: (type_identifier) @name)))
]) @definition.type

(namespace_definition name: (_) @name body: (_) @body) @definition.module

(field_declaration declarator: [
  (field_identifier) @name
  (array_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (field_identifier) @name)
  (reference_declarator (field_identifier) @name)
]) @definition.field

(enumerator name: (_) @name) @definition.constant

(preproc_def name: (_) @name) @definition.macro

(preproc_function_def name: (_) @name value: (_)? @body) @definition.macro

(call_expression function: [
  (identifier) @reference
  (qualified_identifier name: (identifier) @reference)
  (qualified_identifier name: (qualified_identifier name: (identifier) @reference))
  (template_function name: (identifier) @reference)
])

(field_expression field: [
  (field_identifier) @reference
  (template_method name: (field_identifier) @reference)
])

(type_identifier) @reference

(preproc_include path: (_) @module) @import

(using_declaration (qualified_identifier scope: (_) @module name: (_) @imported)) @import

(using_declaration "namespace" [(identifier) (qualified_identifier)] @module) @import
