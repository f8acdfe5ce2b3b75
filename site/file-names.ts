import type { MarkdownRenderer } from 'vitepress';

/** Shows the name of the file above a block that says one: ` ```ts file=src/routes.ts `. */
export function withFileNames(md: MarkdownRenderer): void {
  const render = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const [language, ...words] = tokens[index]!.info.trim().split(/\s+/);
    const name =
      words.find((word) => word.startsWith('file='))?.slice(5) ?? FILES[`${language} ${words[0]}`];
    const block = render(tokens, index, ...rest);
    return name === undefined
      ? block
      : `<div class="code-file"><p class="code-file-name">${md.utils.escapeHtml(name)}</p>${block}</div>`;
  };
}

/** The file of blocks that the tests know by their role. */
const FILES: Readonly<Record<string, string>> = {
  'graphql schema': 'schema.graphql',
  'yaml manifest': 'manifest.yaml',
};
