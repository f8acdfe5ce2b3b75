import { assertPublicRegistry } from './base-images.ts';
import { type Instruction, parseDockerfile, toInstruction } from './dockerfile-lines.ts';
import { assertMount, readMount } from './mounts.ts';
import { quote, refuse } from '../archives/refuse.ts';

/** What the instructions of a Dockerfile may do. */
export interface DockerfilePolicy {
  /** Whether `ADD` may name URLs. The engine itself fetches them, from inside our network. */
  readonly allowAddUrl: boolean;
  /** Images that `FROM` may name. `*` matches any text. */
  readonly from: readonly string[];
}

/** What is known of a Dockerfile before it is built. */
export interface DockerfileFacts {
  /** The images on which it builds. */
  readonly images: readonly string[];
  /** The names of its stages, with an empty text for one without a name. */
  readonly stages: readonly string[];
  readonly instructions: readonly Instruction[];
}

/** Values of `ARG` that replace those in the file. */
export type BuildArguments = Readonly<Record<string, string>>;

/**
 * Checks a Dockerfile before an engine receives it, and says what of it matters to the build.
 *
 * @throws AppError 422 that quotes the instruction and says what is not allowed.
 * @example
 * inspectDockerfile('FROM node:24 AS a\nFROM a', { allowAddUrl: false, from: ['*'] }).images // ['node:24']
 */
export function inspectDockerfile(
  text: string,
  policy: DockerfilePolicy,
  given: BuildArguments = {},
): DockerfileFacts {
  if (text.includes('\0')) throw refuse('The Dockerfile is no text');
  const instructions = parseDockerfile(text);
  if (!instructions.some(({ name }) => name === 'FROM')) throw refuse('The Dockerfile has no FROM');
  const stages = new Set<string>();
  const images = new Set<string>();
  const names: string[] = [];
  const args = new Map<string, string>();
  for (const instruction of instructions) {
    const { name, rest } = instruction;
    if (name === 'ARG' && names.length === 0) setArguments(args, rest, given);
    if (name === 'FROM') {
      const [image = '', , alias] = rest.split(/\s+/);
      for (const name of possibleNames(image, args)) assertImage(name, { stages, images, policy });
      if (alias) stages.add(alias.toLowerCase());
      stages.add(String(names.length));
      names.push(alias ?? '');
    }
    assertInstruction(instruction, { stages, images, policy });
  }
  return { images: [...images], stages: names, instructions };
}

/** @throws AppError 422 that names the stages there are. */
export function assertTarget({ stages }: DockerfileFacts, target: string): void {
  const wanted = target.toLowerCase();
  const found = stages.some((name, index) => [name.toLowerCase(), String(index)].includes(wanted));
  if (found && wanted !== '') return;
  const named = stages.filter((name) => name !== '').join(', ');
  throw refuse(
    `build.target ${quote(target)} is no stage of the Dockerfile, whose stages are: ${named === '' ? 'none with a name' : named}`,
  );
}

/**
 * Checks the `ONBUILD` instructions of an image, which run in every build based on it. @throws
 * AppError 422
 */
export function assertTriggers(triggers: readonly string[], policy: DockerfilePolicy): void {
  for (const trigger of triggers)
    assertInstruction(toInstruction(trigger), { stages: new Set(), images: new Set(), policy });
}

/** `images` collects the images that are not stages of the file. */
type Scope = {
  readonly stages: ReadonlySet<string>;
  readonly images: Set<string>;
  readonly policy: DockerfilePolicy;
};

/** All that builders know. What we read as another one, a builder perhaps reads in another way. */
const INSTRUCTIONS: ReadonlySet<string> = new Set(
  'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR'.split(
    ' ',
  ),
);

type Checked = Pick<Instruction, 'name' | 'flags' | 'rest'>;

function assertInstruction({ name, flags, rest }: Checked, scope: Scope): void {
  if (!INSTRUCTIONS.has(name)) throw refuse(`${quote(name)} is not an instruction`);
  if (name === 'ONBUILD') return assertInstruction(toInstruction(rest), scope);
  if (name === 'ADD' && !scope.policy.allowAddUrl) assertAdd(rest);
  if (name === 'COPY' || name === 'ADD') {
    const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
    if (from !== undefined) assertImage(withoutQuotes(from), scope);
  }
  if (name !== 'RUN') return;
  for (const flag of flags) {
    if (/^--security=/.test(flag) && !/^--security=sandbox$/.test(flag))
      throw refuse(`RUN ${flag} is not allowed`);
    if (/^--network=/.test(flag) && !/^--network=(default|none)$/.test(flag))
      throw refuse(`RUN ${flag} is not allowed`);
    const mount = readMount(flag);
    if (mount) assertMount(mount, flag);
    if (mount?.['from'] !== undefined) assertImage(mount['from'], scope);
  }
}

function assertAdd(rest: string): void {
  const sources = withoutQuotes(jsonWords(rest) ?? rest);
  if (/\$/.test(sources)) throw refuse(`ADD with a variable is not allowed: ${quote(rest)}`);
  if (/[a-z][a-z0-9+.-]*:\/\/|git@|\.git(#|\s|"|,|$)/i.test(sources))
    throw refuse(`ADD of an address is not allowed: ${quote(rest)}`);
}

/** The words of the JSON form, joined. Its escapes could otherwise hide a word from the checks. */
function jsonWords(rest: string): string | null {
  try {
    return rest.startsWith('[') ? (JSON.parse(rest) as unknown[]).join(' ') : null;
  } catch {
    return null;
  }
}

/** Removes quotes and backslashes everywhere, as the builder does when it reads a word. */
const withoutQuotes = (text: string) => text.replaceAll(/["'\\]/g, '');

function assertImage(image: string, { stages, images, policy }: Scope): void {
  if (image === 'scratch' || stages.has(image.toLowerCase())) return;
  if (image === '' || /[${}]/.test(image))
    throw refuse(`FROM ${quote(image)} is not allowed: its name cannot be determined`);
  images.add(image);
  // Images of other apps contain the source code of other users.
  if (/^localhost\//i.test(image))
    throw refuse(`FROM ${quote(image)} is not allowed: it is an image of this server`);
  const named = isNamed(image, policy);
  if (!named && policy.from.includes('*')) return assertPublicRegistry(image);
  if (!named) throw refuse(`FROM ${quote(image)} is not allowed`);
}

/** Whether an entry of the list other than `*` allows this image. */
export const isNamed = (image: string, { from }: DockerfilePolicy) =>
  from.some((pattern) => pattern !== '*' && matchesPattern(image, pattern));

function matchesPattern(image: string, pattern: string): boolean {
  const expression = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return [image, withRegistry(image)].some((name) =>
    new RegExp(`^${expression}(?:$|[:@].*$)`).test(name),
  );
}

/** Adds the default registry, unless the first part of the name is a registry. */
function withRegistry(image: string): string {
  const [first = ''] = image.split('/');
  if (!image.includes('/')) return `docker.io/library/${image}`;
  return /[.:]|^localhost$/.test(first) ? image : `docker.io/${image}`;
}

function setArguments(args: Map<string, string>, rest: string, given: BuildArguments): void {
  for (const [, key = '', value] of rest.matchAll(
    /\b([A-Za-z_]\w*)(?:=("[^"]*"|'[^']*'|\S*))?(?=\s|$)/g,
  )) {
    const replaced = given[key];
    if (replaced !== undefined) args.set(key, replaced);
    else if (value !== undefined) args.set(key, expand(value, args));
  }
}

/** Variables that builders define themselves. Older builders leave them empty. */
const PLATFORM: readonly (readonly [string, string])[] = ['BUILD', 'TARGET'].flatMap(
  (side) =>
    [
      [`${side}PLATFORM`, 'linux/amd64'],
      [`${side}OS`, 'linux'],
      [`${side}ARCH`, 'amd64'],
      [`${side}VARIANT`, ''],
    ] as const,
);

/** The possible values of an image name with variables: older builders do not define `PLATFORM`. */
function possibleNames(image: string, args: ReadonlyMap<string, string>): ReadonlySet<string> {
  return new Set([expand(image, args), expand(image, new Map([...PLATFORM, ...args]))]);
}

/** Characters that the variables of one text may stand for: their values may name each other. */
const MOST_CHARACTERS = 10_000;

/**
 * Expands variables; one that is not set is empty. Other forms than these (`:+`, `#`, `/`) stay
 * unchanged, and are refused later.
 *
 * @throws AppError 422 for values that are too long.
 */
function expand(text: string, args: ReadonlyMap<string, string>): string {
  let characters = 0;
  return withoutQuotes(
    text.replace(/\$(?:\{(\w+)(?::?-([^{}$]*))?\}|(\w+))/g, (_whole, braced, fallback, plain) => {
      const value: string = args.get(braced ?? plain) || (fallback ?? '');
      characters += value.length;
      if (characters > MOST_CHARACTERS) throw refuse('The values of ARG are too long');
      return value;
    }),
  );
}
