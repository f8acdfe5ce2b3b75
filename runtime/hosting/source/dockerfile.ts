import { quote, refuse } from './refuse.ts';

/** What a Dockerfile may do. */
export interface DockerfilePolicy {
  /** `ADD` of addresses: the engine itself fetches them, from inside our network. */
  readonly allowAddUrl: boolean;
  /** Images that `FROM` may name, with `*` for anything. */
  readonly from: readonly string[];
}

interface Instruction {
  readonly name: string;
  readonly flags: readonly string[];
  readonly rest: string;
}

/**
 * Checks a Dockerfile before an engine sees it.
 *
 * @throws AppError 422 that quotes the instruction and says what is not allowed.
 */
export function assertDockerfile(text: string, policy: DockerfilePolicy): void {
  if (text.includes('\0')) throw refuse('The Dockerfile is no text');
  const instructions = parse(text);
  if (!instructions.some(({ name }) => name === 'FROM')) throw refuse('The Dockerfile has no FROM');
  const stages = new Set<string>();
  const args = new Map<string, string>();
  let count = 0;
  for (const instruction of instructions) {
    const { name, rest } = instruction;
    if (name === 'ARG' && count === 0) declare(args, rest);
    if (name === 'FROM') {
      const [image = '', , alias] = rest.split(/\s+/);
      assertImage(expand(image, args), { stages, policy });
      if (alias) stages.add(alias.toLowerCase());
      stages.add(String(count));
      count += 1;
    }
    assertInstruction(instruction, { stages, policy });
  }
}

type Scope = { readonly stages: ReadonlySet<string>; readonly policy: DockerfilePolicy };

function assertInstruction({ name, flags, rest }: Instruction, scope: Scope): void {
  if (name === 'ONBUILD') return assertInstruction(toInstruction(rest), scope);
  if (name === 'ADD' && !scope.policy.allowAddUrl) assertAdd(rest);
  if (name === 'COPY' || name === 'ADD') {
    const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
    if (from !== undefined) assertImage(unquote(from), scope);
  }
  if (name !== 'RUN') return;
  for (const flag of flags) {
    if (/^--security=/.test(flag) && !/^--security=sandbox$/.test(flag)) throw refuse(`RUN ${flag} is not allowed`);
    if (/^--network=/.test(flag) && !/^--network=(default|none)$/.test(flag)) throw refuse(`RUN ${flag} is not allowed`);
    const mounted = /(?:^|[=,])from=([^,]+)/.exec(flag)?.[1];
    if (flag.startsWith('--mount=') && mounted !== undefined) assertImage(unquote(mounted), scope);
  }
}

function assertAdd(rest: string): void {
  const sources = rest.startsWith('[') ? rest : rest.replaceAll(/["']/g, '');
  if (/\$/.test(sources)) throw refuse(`ADD with a variable is not allowed: ${quote(rest)}`);
  if (/[a-z][a-z0-9+.-]*:\/\/|git@|\.git(#|\s|"|,|$)|^\s*<</i.test(sources)) throw refuse(`ADD of an address is not allowed: ${quote(rest)}`);
}

function assertImage(image: string, { stages, policy }: Scope): void {
  if (image === 'scratch' || stages.has(image.toLowerCase())) return;
  // Images of other apps hold other people's source.
  if (/^localhost\//i.test(image)) throw refuse(`FROM ${quote(image)} is not allowed: it is an image of this server`);
  if (policy.from.includes('*')) return;
  if (image.includes('$')) throw refuse(`FROM ${quote(image)} is not allowed: the image cannot be told`);
  if (!policy.from.some((pattern) => fits(image, pattern))) throw refuse(`FROM ${quote(image)} is not allowed`);
}

function fits(image: string, pattern: string): boolean {
  const expression = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  return [image, qualified(image)].some((name) => new RegExp(`^${expression}(?:$|[:@].*$)`).test(name));
}

/** With the registry that engines fill in: only where the first part is none itself. */
function qualified(image: string): string {
  const [first = ''] = image.split('/');
  if (!image.includes('/')) return `docker.io/library/${image}`;
  return /[.:]|^localhost$/.test(first) ? image : `docker.io/${image}`;
}

function declare(args: Map<string, string>, rest: string): void {
  for (const [, key, value] of rest.matchAll(/([A-Za-z_]\w*)=("[^"]*"|'[^']*'|\S*)/g)) args.set(key as string, unquote(value as string));
}

function expand(text: string, args: ReadonlyMap<string, string>): string {
  return unquote(text.replace(/\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))/g, (whole, braced, fallback, bare) => args.get(braced ?? bare) ?? fallback ?? whole));
}

const unquote = (text: string) => text.replace(/^(["'])(.*)\1$/, '$2');

/** Instructions with their continued lines joined. Text of here-documents is read as instructions too, which only refuses more. */
function parse(text: string): Instruction[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const escape = readDirectives(lines);
  const instructions: Instruction[] = [];
  let open = '';
  for (const line of lines) {
    if (/^\s*#/.test(line) || (open !== '' && line.trim() === '')) continue;
    const trimmed = line.trimEnd();
    const continues = trimmed.endsWith(escape);
    open += continues ? `${trimmed.slice(0, -1)} ` : trimmed;
    if (continues) continue;
    if (open.trim() !== '') instructions.push(toInstruction(open));
    open = '';
  }
  if (open.trim() !== '') instructions.push(toInstruction(open));
  return instructions;
}

/** Directives stand before everything else. A frontend of one's own would be a program that runs in place of the builder. */
function readDirectives(lines: readonly string[]): string {
  let escape = '\\';
  for (const line of lines) {
    const directive = /^\s*#\s*([a-z]+)\s*=\s*(.*?)\s*$/i.exec(line);
    if (!directive) break;
    const [, name = '', value = ''] = directive;
    if (name.toLowerCase() === 'syntax' && !/^docker\/dockerfile:1(\.\d+)*$/.test(value)) throw refuse(`# syntax=${value.slice(0, 100)} is not allowed`);
    if (name.toLowerCase() === 'escape') escape = value === '`' ? '`' : '\\';
  }
  return escape;
}

function toInstruction(text: string): Instruction {
  const [, name = '', tail = ''] = /^\s*(\S+)\s*([^]*)$/.exec(text) ?? [];
  const flags: string[] = [];
  let rest = tail;
  for (let flag = /^(--\S+)\s*/.exec(rest); flag; flag = /^(--\S+)\s*/.exec(rest)) {
    flags.push(flag[1] as string);
    rest = rest.slice(flag[0].length);
  }
  return { name: name.toUpperCase(), flags, rest: rest.trim() };
}
