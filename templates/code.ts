import type * as Runtime from '@twofold/runtime';

/**
 * Text of a TypeScript file, with the imports that it needs.
 *
 * @example
 * code`export const app = ${runtime('defineApp')}({ model });`
 */
export interface Code {
  readonly text: string;
  readonly imports: readonly Import[];
}

/** One imported name. `as` is the local name; `*` imports the module's namespace. */
export interface Import {
  readonly from: string;
  readonly name: string;
  readonly as: string;
  readonly typeOnly: boolean;
}

/**
 * A value in a template. `false`, `null` and the empty string print nothing, and remove their line
 * if it is otherwise empty.
 */
export type Part = string | number | Code | readonly Part[] | false | null | undefined;

const NOTHING: readonly Import[] = [];
const EMPTY: Code = { text: '', imports: NOTHING };

/**
 * Makes code from a template that looks like its output: the common indent is removed, a value of
 * several lines gets the indent of its place, and a line with only empty values is removed.
 */
export function code(strings: TemplateStringsArray, ...values: readonly Part[]): Code {
  const literals = dedent(strings);
  const imports: Import[] = [];
  let text = literals[0] ?? '';
  values.forEach((value, index) => {
    const after = literals[index + 1] ?? '';
    const part = toCode(value);
    for (const entry of part.imports) imports.push(entry);
    const emptied =
      part.text === '' && lastLine(text).trim() === '' && (after.startsWith('\n') || after === '');
    if (emptied) text = dropLine(text) + (text.includes('\n') ? after : after.slice(1));
    else text += indented(part.text, text) + after;
  });
  return { text, imports };
}

/** Joins pieces of code with `between`; empty pieces are left out. */
export function join(parts: readonly Part[], between = '\n'): Code {
  const codes = parts.map(toCode).filter((part) => part.text !== '');
  const imports = codes.some((part) => part.imports.length > 0)
    ? codes.flatMap((part) => part.imports)
    : NOTHING;
  return { text: codes.map((part) => part.text).join(between), imports };
}

/** Text that is printed unchanged, except for the indent of its place in a template. */
export function raw(text: string): Code {
  return { text, imports: NOTHING };
}

/** A name of the runtime. An unknown name is a compile error in the template. */
export function runtime(name: keyof typeof Runtime): Code {
  return known(functions, { from: '@twofold/runtime', name, as: name, typeOnly: false });
}

/** A type of the runtime; `RuntimeType` lists the types that emitted code may use. */
export function runtimeType(name: RuntimeType): Code {
  return known(types, { from: '@twofold/runtime', name, as: name, typeOnly: true });
}

/** Caches by name: emitted code uses the same few names thousands of times. */
const functions = new Map<string, Code>();
const types = new Map<string, Code>();

function known(cache: Map<string, Code>, entry: Import): Code {
  const code = cache.get(entry.name) ?? imported(entry);
  cache.set(entry.name, code);
  return code;
}

export type RuntimeType =
  | 'Credential'
  | 'EntityData'
  | 'Generated'
  | 'HooksOf'
  | 'JobOf'
  | 'JobsApi'
  | 'JobsOf'
  | 'Kysely'
  | 'MigrationStep'
  | 'Plugin'
  | 'RequestContext'
  | 'TableOf'
  | 'RoutesOf'
  | 'MiddlewareOf'
  | 'MutationsOf'
  | 'Scalar';

/** A name that a capability's package exports. */
export function packaged(
  from: string,
  name: string,
  { as = name, typeOnly = false }: { readonly as?: string; readonly typeOnly?: boolean } = {},
): Code {
  return imported({ from, name, as, typeOnly });
}

/** A name that another file of the project exports. */
export function local(from: string, name: string, as = name): Code {
  return imported({ from, name, as, typeOnly: false });
}

/**
 * A type of `types.ts`, with its namespace, so that a GraphQL type called `Error` does not clash.
 */
export function type(name: string, from = './types.ts'): Code {
  const { imports } = imported({ from, name: '*', as: 'types', typeOnly: true });
  return { text: `types.${name}`, imports };
}

/** A finished file: header, sorted imports, body. */
export function file(header: string, body: Code): string {
  const imports = printImports(body.imports);
  const parts = [header, imports, body.text.trim()].filter((part) => part !== '');
  // Joins once, so that a text of many megabytes is not copied twice.
  return [...parts.flatMap((part) => [part, '\n\n']).slice(0, -1), '\n'].join('');
}

function imported(entry: Import): Code {
  return { text: entry.as, imports: [entry] };
}

function toCode(part: Part): Code {
  if (part === false || part === null || part === undefined) return EMPTY;
  if (typeof part === 'string') return raw(part);
  if (typeof part === 'number') return raw(String(part));
  return Array.isArray(part) ? join(part) : (part as Code);
}

/**
 * The text with the indent of the line that it continues. Empty lines get no indent. Most values
 * have one line, and then nobody looks for the indent: that would copy a text of many megabytes.
 */
function indented(text: string, before: string): string {
  if (!text.includes('\n')) return text;
  const indent = /^ */.exec(lastLine(before))![0];
  return indent === '' ? text : text.replace(/\n(?!\n|$)/g, `\n${indent}`);
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1);
}

function dropLine(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf('\n')));
}

/**
 * A template is in one place of the source but used for every type: its strings are dedented once.
 */
const dedented = new WeakMap<TemplateStringsArray, readonly string[]>();

function dedent(strings: TemplateStringsArray): readonly string[] {
  const known = dedented.get(strings) ?? withoutIndent(strings);
  dedented.set(strings, known);
  return known;
}

function withoutIndent(strings: TemplateStringsArray): readonly string[] {
  const first = strings[0] ?? '';
  if (!first.startsWith('\n')) return [...strings];
  const indents = strings.flatMap(lineIndents);
  const common = Math.min(...indents);
  const stripped = strings.map((part) =>
    part.replaceAll(new RegExp(`\n {0,${Number.isFinite(common) ? common : 0}}`, 'g'), '\n'),
  );
  stripped[0] = stripped[0]!.slice(1);
  stripped[stripped.length - 1] = stripped[stripped.length - 1]!.replace(/\n *$/, '');
  return stripped;
}

/**
 * The indents of the lines that begin in this part. The last line may end at a value or at the
 * closing backtick.
 */
function lineIndents(part: string, at: number, strings: readonly string[]): number[] {
  const lines = part.split('\n').slice(1);
  const holdsValue = at < strings.length - 1;
  return lines
    .filter((line, index) => line.trim() !== '' || (holdsValue && index === lines.length - 1))
    .map((line) => /^ */.exec(line)![0].length);
}

function printImports(imports: readonly Import[]): string {
  const modules = new Map<string, Map<string, Import>>();
  for (const entry of new Set(imports)) {
    const key = `${entry.typeOnly ? 'type ' : ''}${entry.name} as ${entry.as}`;
    const names = modules.get(entry.from) ?? new Map<string, Import>();
    modules.set(entry.from, names.set(key, entry));
  }
  return [...modules.entries()]
    .sort(([a], [b]) => compareModules(a, b))
    .flatMap(([from, names]) => printModule(from, [...names.values()]))
    .join('\n');
}

function printModule(from: string, entries: readonly Import[]): string[] {
  const values = entries.filter(
    (entry) => !entry.typeOnly && entry.name !== 'default' && entry.name !== '*',
  );
  const valueNames = new Set(values.map((entry) => entry.as));
  const types = entries.filter(
    (entry) =>
      entry.typeOnly && !['*', 'default'].includes(entry.name) && !valueNames.has(entry.as),
  );
  const whole = entries.find((entry) => entry.name === '*');
  const fallback = entries.find((entry) => entry.name === 'default');
  return [
    fallback ? `import ${fallback.typeOnly ? 'type ' : ''}${fallback.as} from '${from}';` : '',
    whole ? `import ${whole.typeOnly ? 'type ' : ''}* as ${whole.as} from '${from}';` : '',
    values.length > 0
      ? `import { ${names([...values, ...types.map((entry) => ({ ...entry, inline: true }))])} } from '${from}';`
      : '',
    values.length === 0 && types.length > 0
      ? `import type { ${names(types)} } from '${from}';`
      : '',
  ].filter((line) => line !== '');
}

function names(entries: readonly (Import & { readonly inline?: boolean })[]): string {
  return [...entries]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      (entry) =>
        `${entry.inline ? 'type ' : ''}${entry.name}${entry.name === entry.as ? '' : ` as ${entry.as}`}`,
    )
    .join(', ');
}

/** Packages first, then files by their distance from the project's root. */
function compareModules(a: string, b: string): number {
  const depth = (path: string) => (path.startsWith('../') ? 1 : path.startsWith('.') ? 2 : 0);
  return depth(a) - depth(b) || (a < b ? -1 : 1);
}

/**
 * The first line of every generated file. It has no date, version or path, so that the same inputs
 * give the same bytes everywhere.
 */
export const HEADER =
  '// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.';
