/**
 * Returns true if a path is excluded, false if a rule includes it again, and null when no rule
 * matches. For folders, pass `folder: true`.
 */
export type IgnoreRules = (path: string, folder: boolean) => boolean | null;

interface IgnoreRule {
  readonly pattern: RegExp;
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
}

/**
 * The rules of a `.gitignore`, for paths relative to its folder. The last rule that matches
 * decides; `!` includes again; a rule with a slash is anchored; `dir/` matches only folders; `**`
 * matches any number of folders (git-scm.com, gitignore).
 *
 * @example
 * parseGitignore('data/\n*.log\n!keep.log')('keep.log', false) // false: it is let in
 */
export function parseGitignore(text: string): IgnoreRules {
  return lastOf(
    linesOf(text, (line) => line.replace(/(?<!\\)\s+$/, '')).map((line) =>
      toRule(line, { anchored: /\/./.test(line.replace(/^!/, '')) }),
    ),
  );
}

/**
 * The rules of a `.dockerignore`: every rule is anchored at the root, and a rule that matches a
 * folder matches everything below it (docs.docker.com, "dockerignore files").
 */
export function parseDockerignore(text: string): IgnoreRules {
  return lastOf(
    linesOf(text, (line) => line.trim()).map((line) => ({
      ...toRule(line.replace(/\/+$/, ''), { anchored: true }),
      foldersOnly: false,
    })),
  );
}

function linesOf(text: string, trim: (line: string) => string): string[] {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map(trim);
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

function lastOf(rules: readonly IgnoreRule[]): IgnoreRules {
  return (path, folder) => {
    const decisive = rules.findLast(
      ({ pattern, foldersOnly }) => (folder || !foldersOnly) && pattern.test(path),
    );
    return decisive ? !decisive.keeps : null;
  };
}

function toRule(line: string, { anchored }: { anchored: boolean }): IgnoreRule {
  const keeps = line.startsWith('!');
  const glob = (keeps ? line.slice(1) : line).replace(/^\\([#!])/, '$1').trim();
  const parts = glob.replace(/^\.?\//, '').replace(/\/$/, '');
  return {
    pattern: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${toExpression(parts)}$`),
    keeps,
    foldersOnly: glob.endsWith('/'),
  };
}

/**
 * A glob as a regular expression, character by character: `*` and `?` stop at a slash, `**` does
 * not.
 */
function toExpression(glob: string): string {
  let text = '';
  for (let at = 0; at < glob.length; at++) {
    const rest = glob.slice(at);
    const [wild] = /^(?:\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.)/.exec(rest) ?? [];
    text += wild === undefined ? escaped(glob[at]!) : wildcard(wild);
    at += (wild?.length ?? 1) - 1;
  }
  return text;
}

function wildcard(wild: string): string {
  if (wild === '**/') return '(?:.*/)?';
  if (wild === '/**') return '/.*';
  if (wild.startsWith('*')) return '[^/]*';
  if (wild === '?') return '[^/]';
  if (wild.startsWith('['))
    return `[${wild.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\').replaceAll('[', '\\[')}]`;
  return escaped(wild.slice(1));
}

function escaped(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
