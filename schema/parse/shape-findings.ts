import type { ErrorObject } from 'ajv';
import type { Diagnostic } from '../diagnostic.ts';
import { didYouMean, nearest } from '../did-you-mean.ts';
import type { Manifest } from './manifest.ts';
import type { ManifestPath } from './yaml.ts';

/** Keys that people look for in the manifest and that are settings. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['database.url', 'DATABASE_URL'],
  ['auth.jwt.secret', 'JWT_SECRET'],
  ['server.url', 'APP_URL'],
  ['smtp', 'SMTP_URL'],
  ['mail', 'SMTP_URL'],
]);

interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** What ajv found, as somebody would say it who knows the file. */
export function shapeFinding(error: ErrorObject, path: ManifestPath, at: Manifest['at']): Diagnostic {
  const name = path.join('.');
  const shape = (error.parentSchema ?? {}) as Shape;
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(path, shape, at);
    case 'required':
      return finding('MANIFEST_KEY_MISSING', `${name} is missing`, at(path.slice(0, -1), 'key'), name === 'name' ? 'name: shop' : `add ${path.at(-1)}`);
    case 'propertyNames':
    case 'pattern':
      if (error.propertyName !== undefined) return finding('MANIFEST_SHAPE', `${name} is no valid name here`, at(path, 'key'), `it has to match ${(error.params as { pattern?: string }).pattern ?? 'the pattern'}`);
      return wrongValue(name, shape, error, at(path));
    default:
      return wrongValue(name, shape, error, at(path));
  }
}

function unknownKey(path: ManifestPath, shape: Shape, at: Manifest['at']): Diagnostic {
  const key = String(path.at(-1));
  const known = Object.keys(shape.properties ?? {});
  const setting = ELSEWHERE.get(path.join('.'));
  const fix = setting ? `this is the setting ${setting}: write it into .env` : (didYouMean(key, known) ?? `known here: ${known.join(', ')}`);
  return finding('MANIFEST_KEY_UNKNOWN', `There is no setting ${path.join('.')}`, at(path, 'key'), fix);
}

function wrongValue(name: string, shape: Shape, error: ErrorObject, at: Diagnostic['at']): Diagnostic {
  const near = shape.enum && typeof error.data === 'string' ? nearest(error.data, shape.enum.map(String)) : undefined;
  const fix = near ? `Did you mean "${near}"?` : shape.default === undefined ? undefined : `the default is ${JSON.stringify(shape.default)}`;
  return finding('MANIFEST_SHAPE', `${name || 'The manifest'} has to be ${expected(shape)}`, at, fix);
}

function expected(shape: Shape): string {
  if (shape.enum) return shape.enum.join(', ').replace(/, ([^,]*)$/, ' or $1');
  if (shape.const !== undefined) return String(shape.const);
  if (shape.minimum !== undefined && shape.maximum !== undefined) return `${article(shape.type)} from ${shape.minimum} to ${shape.maximum}`;
  if (shape.minimum !== undefined) return `${article(shape.type)} of at least ${shape.minimum}`;
  if (shape.exclusiveMinimum !== undefined) return `${article(shape.type)} above ${shape.exclusiveMinimum}`;
  if (shape.type === 'string' && shape.description) return `like this: ${shape.description}`;
  return shape.type ? article(shape.type) : `like this: ${shape.description ?? 'see manifest.schema.json'}`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with settings of its own',
  null: 'null',
};

function article(type: Shape['type']): string {
  return [type ?? 'string'].flat().map((word) => WORDS[word] ?? word).join(' or ');
}

function finding(code: string, summary: string, at: Diagnostic['at'], fix?: string): Diagnostic {
  return { code, severity: 'error', summary, ...(fix && { fix }), at };
}
