import type { MarkdownRenderer } from 'vitepress';

/**
 * An indented block looks as a fenced one and scrolls by itself: without that, one long line makes
 * the whole page wider than a phone. A line break in a paragraph is a space: Vue removes line breaks
 * between two pieces of code, which then stood together.
 */
export function withPlainBlocks(md: MarkdownRenderer): void {
  md.renderer.rules.code_block = (tokens, index, options, env, renderer) => {
    const block = tokens[index]!;
    block.type = 'fence';
    block.info = 'txt';
    return renderer.rules.fence!(tokens, index, options, env, renderer);
  };
  md.renderer.rules.softbreak = () => ' ';
}
