-- The command alone: the rest begins with require('lsp_complete').setup().
if vim.g.loaded_lsp_complete then
  return
end
vim.g.loaded_lsp_complete = true

vim.api.nvim_create_user_command('LspComplete', function(args)
  require('lsp_complete.commands').run(args.fargs)
end, {
  nargs = '+',
  desc = 'lsp-complete: state, reasons, figures, pause',
  complete = function(lead, line)
    return require('lsp_complete.commands').complete(lead, line)
  end,
})
