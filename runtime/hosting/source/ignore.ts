/**
 * The rules of a `.dockerignore`: a test for paths that stay out of the build. The last rule that fits decides, `!` lets
 * in again, `**` stands for any folders (docs.docker.com, "dockerignore files").
 *
 * @example
 * const isIgnored = parseIgnore('node_modules\n*.log\n!keep.log');
 * isIgnored('node_modules/a.js') // true
 */
export function parseIgnore(text: string): (path: string) => boolean {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(0, 1000)
    .map(toRule);
  return (path) => {
    let ignored = false;
    for (const { pattern, keeps } of rules)
      if (ignored === keeps && pattern.test(path)) ignored = !keeps;
    return ignored;
  };
}

function toRule(line: string): { readonly pattern: RegExp; readonly keeps: boolean } {
  const keeps = line.startsWith('!');
  const glob = (keeps ? line.slice(1).trim() : line)
    .replace(/^(\.?\/)+/, '')
    .replace(/\/+$/, '')
    .slice(0, 300);
  return {
    pattern: new RegExp(`^${glob.split('/').map(toSegment).join('').replace(/\/$/, '')}(/|$)`),
    keeps,
  };
}

function toSegment(segment: string): string {
  if (segment === '**') return '(?:[^/]+/)*';
  return `${segment
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
    .replace(/\?/g, '[^/]')
    .replace(/\[!/g, '[^')}/`;
}
