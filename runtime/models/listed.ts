import type { Model } from './model.ts';
import { MODEL_ID } from './model.ts';

type Fields = Readonly<Record<string, unknown>>;

const KNOWN_FIELDS = new Set([
  'id',
  'name',
  'format',
  'size',
  'quantization',
  'licence',
  'license',
  'context',
  'file',
  'revision',
]);
const FILE_NAME = /^(?!.*(?:^|\/)\.)[A-Za-z0-9._/-]{1,200}\.gguf$/;
const REVISION = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;
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

function problemOf({ id, format, size, context, file, revision, ...rest }: Fields): string | null {
  if (typeof id !== 'string' || !MODEL_ID.test(id)) return 'needs an id of the form org/name';
  const unknown = Object.keys(rest).find((key) => !KNOWN_FIELDS.has(key));
  if (unknown !== undefined)
    return `has the unknown field ${unknown}; known are ${[...KNOWN_FIELDS].join(', ')}`;
  if (format !== undefined && format !== 'gguf' && format !== 'mlx')
    return 'has a format that is neither gguf nor mlx';
  if (size !== undefined && !isCount(size)) return 'has a size that is not a number of bytes';
  if (context !== undefined && !isCount(context))
    return 'has a context that is not a number of tokens';
  if (file !== undefined && !(typeof file === 'string' && FILE_NAME.test(file)))
    return 'has a file that is not the name of a .gguf file in the repository';
  if (
    revision !== undefined &&
    !(typeof revision === 'string' && REVISION.test(revision) && !revision.includes('..'))
  )
    return 'has a revision that is not a branch, tag or commit';
  const text = ['name', 'quantization', 'licence', 'license'].find(
    (key) => rest[key] !== undefined && typeof rest[key] !== 'string',
  );
  return text === undefined ? null : `has a ${text} that is not text`;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

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
