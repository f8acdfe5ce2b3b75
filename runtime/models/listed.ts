import type { Model } from './model.ts';
import { MODEL_ID } from './model.ts';

type Fields = Readonly<Record<string, unknown>>;

const FILE_NAME = /^(?!.*(?:^|\/)\.)[A-Za-z0-9._/-]{1,200}\.gguf$/;
const REVISION = /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;
const QUANTIZATION = /(?:^|[-._])(I?Q\d(?:_[A-Z0-9]+)*|BF16|F16|F32|\d{1,2}bit)(?=$|[-._])/i;

/**
 * Reads the models of the manifest: `org/name`, or an object with `id` and further fields.
 *
 * @param problem Called for every wrong entry.
 * @example readListed(['mlx-community/gemma-3-4b-it-4bit', { id: 'me/mine-GGUF', file: 'mine.Q8_0.gguf' }], settings.problem)
 */
export function readListed(list: readonly unknown[], problem: (line: string) => void): Model[] {
  return list.flatMap((entry, index) => {
    const fields: Fields = typeof entry === 'string' ? { id: entry } : isObject(entry) ? entry : {};
    const wrong = problemOf(fields);
    if (wrong === null) return [toModel(fields)];
    problem(`hosting.models.list[${index}] ${wrong}`);
    return [];
  });
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Check {
  holds(value: unknown): boolean;
  readonly not: string;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isLike = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value);
const TEXT: Check = { holds: (value) => typeof value === 'string', not: 'not text' };

const CHECKS: Readonly<Record<string, Check>> = {
  format: { holds: (value) => value === 'gguf' || value === 'mlx', not: 'neither gguf nor mlx' },
  size: { holds: isCount, not: 'not a number of bytes' },
  context: { holds: isCount, not: 'not a number of tokens' },
  file: { holds: isLike(FILE_NAME), not: 'not the name of a .gguf file in the repository' },
  revision: { holds: isLike(REVISION), not: 'not a branch, tag or commit' },
  name: TEXT,
  quantization: TEXT,
  licence: TEXT,
  license: TEXT,
};
const KNOWN_FIELDS: readonly string[] = ['id', ...Object.keys(CHECKS)];

function problemOf(fields: Fields): string | null {
  const { id, ...rest } = fields;
  if (typeof id !== 'string' || !MODEL_ID.test(id)) return 'needs an id of the form org/name';
  const unknown = Object.keys(rest).find((key) => !KNOWN_FIELDS.includes(key));
  if (unknown !== undefined)
    return `has the unknown field ${unknown}; known are ${KNOWN_FIELDS.join(', ')}`;
  const wrong = Object.entries(CHECKS).find(
    ([key, { holds }]) => fields[key] !== undefined && !holds(fields[key]),
  );
  return wrong ? `has a ${wrong[0]} that is ${wrong[1].not}` : null;
}

function toModel(fields: Fields): Model {
  const { id, name, size, context, file, revision } = fields as unknown as Model;
  const format =
    (fields['format'] as Model['format'] | undefined) ??
    (file !== undefined || /gguf/i.test(id) ? 'gguf' : 'mlx');
  return {
    ...{ id, format, name: name ?? nameOf(id), size: size ?? 0, context: context ?? null },
    quantization:
      (fields['quantization'] as string | undefined) ?? QUANTIZATION.exec(file ?? id)?.[1] ?? null,
    licence: (fields['licence'] ?? fields['license'] ?? null) as string | null,
    ...(file !== undefined && { file }),
    ...(revision !== undefined && { revision }),
  };
}

const nameOf = (id: string) => (id.split('/')[1] as string).replaceAll(/[-_]/g, ' ');
