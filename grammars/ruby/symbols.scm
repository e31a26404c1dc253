; The captures are explained in lsp_complete/text/syntax.py.

([
  (method name: (_) @name . (method_parameters) . body: (_)? @body)
  (method name: (_) @name . body: (_)? @body)
  (singleton_method name: (_) @name . (method_parameters) . body: (_)? @body)
  (singleton_method name: (_) @name . body: (_)? @body)
] @definition.function)

(class name: [
  (constant) @name
  (scope_resolution name: (constant) @name)
] body: (_)? @body) @definition.class

(class name: (scope_resolution scope: (_) @parent name: (constant) @name)) @definition.class

(class name: [
  (constant) @name
  (scope_resolution name: (constant) @name)
] superclass: (superclass (_) @base)) @definition.class

(module name: [
  (constant) @name
  (scope_resolution name: (constant) @name)
] body: (_)? @body) @definition.module

(assignment left: (constant) @name) @definition.constant

(assignment left: (instance_variable) @name) @definition.field

((call method: (identifier) @only arguments: (argument_list (simple_symbol) @name)) @definition.field
  (#set! only "attr_accessor attr_reader attr_writer"))

(call method: [(identifier) (constant)] @reference)

(constant) @reference

((call method: (identifier) @only arguments: (argument_list . (string (string_content) @module))) @import
  (#set! only "require require_relative load"))
