; The captures are explained in lsp_complete/text/syntax.py.

(function_declaration name: (identifier) @name body: (_)? @body) @definition.function

(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (generic_type type: (_) @parent)
    (pointer_type [
      (type_identifier) @parent
      (generic_type type: (_) @parent)
    ])
  ]))
  name: (field_identifier) @name
  body: (_)? @body) @definition.method

(type_declaration "(" (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct)

(type_declaration "type" . (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body))) @definition.struct

(type_spec name: (_) @name type: (struct_type (field_declaration_list (field_declaration !name type: [
  (type_identifier) @base
  (qualified_type) @base
  (generic_type type: (_) @base)
])))) @definition.struct

(type_declaration "(" (type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface)

(type_declaration "type" . (type_spec name: (_) @name type: (interface_type "{" @body))) @definition.interface

(type_spec name: (_) @name type: (interface_type (type_elem . [
  (type_identifier) @base
  (qualified_type) @base
] .))) @definition.interface

(type_declaration "(" [
  (type_spec name: (_) @name)
  (type_alias name: (_) @name)
] @definition.type)

(type_declaration "type" . [
  (type_spec name: (_) @name)
  (type_alias name: (_) @name)
]) @definition.type

(field_declaration name: (field_identifier) @name) @definition.field

(method_elem name: (field_identifier) @name) @definition.method

(source_file (const_declaration "(" (const_spec name: (identifier) @name) @definition.constant))

(source_file (const_declaration "const" . (const_spec name: (identifier) @name)) @definition.constant)

(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable)))

(source_file (var_declaration "var" . (var_spec name: (identifier) @name)) @definition.variable)

(call_expression function: (identifier) @reference)

(selector_expression field: (field_identifier) @reference)

(type_identifier) @reference

(import_spec path: (_) @module) @import
