import { lookUp } from '@twofold/schema';
import { memberRange } from './insert-member.ts';
import type { Rename } from './rename-in-schema.ts';

/**
 * The exports of the generated types that a rename gives another name, and what `ctx.data` calls the
 * type: `PostRow` → `ArticleRow`, `data.post` → `data.article`.
 */
export function renamedExports(
  before: string,
  after: string,
  { kind, from, to }: Rename,
): ReadonlyMap<string, string> {
  if (kind === 'field') return new Map();
  const now = new Set(exportsOf(after));
  const gone = exportsOf(before).filter((name) => !now.has(name));
  const exports = gone.map((name) => [name, name.replace(from, to)] as const);
  const [old, next] = [accessorOf(before, from), accessorOf(after, to)];
  return new Map([
    ...exports.filter(([, name]) => now.has(name)),
    ...(old && next && old !== next ? [[`data.${old}`, `data.${next}`] as const] : []),
  ]);
}

const exportsOf = (text: string): string[] =>
  [...text.matchAll(/^export (?:declare )?(?:type|interface|const) (\w+)/gm)].map(
    ([, name]) => name!,
  );

const accessorOf = (text: string, type: string): string | undefined =>
  new RegExp(`^ *readonly (\\w+): EntityData<${type}Shape>`, 'm').exec(text)?.[1];

/**
 * The user's code with the new names: behind `types.` and `ctx.data.`, and those that a file imports
 * from the generated types. Anything else with such a name may mean something else.
 *
 * @example renameExports(text, new Map([['PostRow', 'ArticleRow'], ['data.post', 'data.article']]))
 */
export function renameExports(text: string, exports: ReadonlyMap<string, string>): string {
  const imported = [...text.matchAll(/import type \{([^}]*)\} from '[^']*generated\/types\b/g)]
    .flatMap(([, names]) => names!.split(','))
    .flatMap((name) => (exports.has(name.trim()) ? [name.trim()] : []));
  const prefixed = text
    .replaceAll(/\btypes\.(\w+)/g, (whole, name: string) =>
      exports.has(name) ? `types.${exports.get(name)}` : whole,
    )
    .replaceAll(/\bctx\.(data\.\w+)/g, (_, name: string) => `ctx.${exports.get(name) ?? name}`);
  return imported.reduce(
    (done, name) => done.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), lookUp(exports, name)),
    prefixed,
  );
}

/**
 * Renames the user's resolver of a renamed field. Null when there is none, or it cannot be found.
 */
export async function renameFieldInCode(
  text: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string | null> {
  const range = await memberRange(text, from);
  if (!range) return null;
  const name = range.shorthand ? `${to}: ${from}` : to;
  return text.slice(0, range.start) + name + text.slice(range.end);
}
