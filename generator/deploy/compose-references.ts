import { parseDocument } from 'yaml';

/** What a compose file names outside of itself. The server checks the file; this only looks. */
export interface ComposeReferences {
  /** Variables that the file may take from the environment. */
  readonly variables: readonly string[];
  /** Files of variables, which are sent although they may hold secrets. */
  readonly envFiles: readonly string[];
  /** Whether it needs files beside it: to build, to copy, or to read variables from. */
  readonly needsFiles: boolean;
}

/** @example referencesOf('services: { web: { image: "web:${TAG}" } }').variables // ['TAG'] */
export function referencesOf(text: string): ComposeReferences {
  const services = servicesOf(text);
  const written = [...text.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name]) => name as string);
  const passed = services.flatMap(({ environment }) => withoutValue(environment));
  const envFiles = services.flatMap(({ env_file }) => listOf(env_file).map(pathOf)).filter(Boolean);
  const copies = services
    .flatMap(({ volumes }) => listOf(volumes))
    .some((volume) => /^\./.test(sourceOf(volume)));
  const builds = services.some(({ build }) => build !== undefined);
  return {
    variables: [...new Set([...written, ...passed])],
    envFiles: [...new Set(envFiles)],
    needsFiles: builds || copies || envFiles.length > 0,
  };
}

type Service = Readonly<Record<string, unknown>>;

function servicesOf(text: string): Service[] {
  try {
    const file = parseDocument(text, { merge: true }).toJS({ maxAliasCount: 200 }) as {
      services?: Record<string, unknown>;
    } | null;
    return Object.values(file?.services ?? {}).filter(isService);
  } catch {
    return [];
  }
}

const isService = (value: unknown): value is Service => typeof value === 'object' && value !== null;
const listOf = (value: unknown): unknown[] =>
  value === undefined || value === null ? [] : [value].flat();
const memberOf = (value: unknown, key: string): string =>
  isService(value) ? String(value[key] ?? '') : String(value);
const pathOf = (value: unknown) => memberOf(value, 'path').replace(/^\.\//, '');
const sourceOf = (value: unknown) => memberOf(value, 'source');

/** `- NAME` and `NAME:` mean the variable of whoever calls. */
function withoutValue(environment: unknown): string[] {
  if (Array.isArray(environment))
    return environment.map(String).filter((line) => !line.includes('='));
  if (!isService(environment)) return [];
  return Object.keys(environment).filter((name) => environment[name] === null);
}
