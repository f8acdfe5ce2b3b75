import type { MarkdownOptions, MarkdownRenderer } from 'vitepress';

/**
 * The classes of tokens, with the scopes that have them. Shiki wants a colour for each, so each has
 * one that stands for its class: colours themselves are in the style sheet, for both schemes, and
 * no page has a `style` attribute, which a strict policy would refuse.
 */
const CLASSES: readonly (readonly [name: string, mark: string, scopes: readonly string[]])[] = [
  ['comment', '#000001', ['comment', 'punctuation.definition.comment']],
  ['string', '#000002', ['string', 'punctuation.definition.string', 'markup.inline.raw']],
  ['number', '#000003', ['constant.numeric', 'constant.language']],
  ['keyword', '#000004', ['keyword', 'storage', 'variable.language', 'keyword.operator.new']],
  ['type', '#000005', ['entity.name.type', 'support.type', 'support.class', 'entity.name.class']],
  [
    'property',
    '#000006',
    [
      'entity.name.tag',
      'variable.other.property',
      'support.type.property-name',
      'variable.graphql',
    ],
  ],
  ['function', '#000007', ['entity.name.function', 'support.function', 'meta.directive']],
];

const TEXT = '#0000ff';

/** The theme of code blocks. */
export const codeTheme = {
  name: 'twofold',
  type: 'light',
  colors: { 'editor.foreground': TEXT, 'editor.background': '#ffffff' },
  settings: [
    { settings: { foreground: TEXT } },
    ...CLASSES.map(([, mark, scope]) => ({
      scope: [...scope],
      settings: { foreground: mark },
    })),
  ],
} satisfies MarkdownOptions['theme'];

/** Replaces the `style` attributes of highlighted code by classes. */
export function withClasses(md: MarkdownRenderer): void {
  const { highlight } = md.options;
  if (!highlight) return;
  md.options.highlight = (code, language, attributes) =>
    classed(highlight(code, language, attributes));
}

function classed(html: string): string {
  return (
    html
      .replaceAll(/ style="[^"]*?color:(#[0-9a-fA-F]{6})[^"]*"/g, (_, mark: string) => {
        const found = CLASSES.find(([, each]) => each === mark.toLowerCase());
        return found ? ` class="code-${found[0]}"` : '';
      })
      // The grammar of GraphQL takes every text in quotes for a comment.
      .replaceAll(/"code-comment">(\s*(?:"|&quot;))/g, '"code-string">$1')
      .replaceAll('<span>', '<span class="code-text">')
  );
}
