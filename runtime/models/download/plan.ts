import { failure } from '@twofold/runtime/errors';
import type { Model } from '../model.ts';
import type { HubFile, Repository } from './hub.ts';

/** The files of a download, from one commit, each with its size and checksum. */
export interface Plan {
  readonly id: string;
  readonly format: Model['format'];
  readonly commit: string;
  readonly files: readonly HubFile[];
  readonly size: number;
}

/** Files of an MLX model. Code is left out, because no code of a repository is ever run. */
const MLX_FILE = /^[^/]+\.(json|jsonl|safetensors|txt|model|tiktoken|jinja)$/;
/** Files that the error of a repository with several models names. */
const MAX_NAMED = 50;
const PART_FILE = /^(?<base>.+)-\d{5}-of-(?<count>\d{5})\.gguf$/;

/**
 * Picks the files of a model from its repository.
 *
 * @throws AppError 404 when the repository does not have them, 502 when it gives no checksum for
 * them.
 */
export function makePlan(model: Model, { commit, files }: Repository): Plan {
  const picked =
    model.format === 'gguf'
      ? pickGguf(model, files)
      : files.filter(({ name }) => MLX_FILE.test(name));
  if (!picked.some(({ name }) => /\.(gguf|safetensors)$/.test(name)))
    throw failure.notFound(`The hub has no ${model.format} weights in ${model.id}`);
  const bare = picked.find(({ sha256, oid }) => sha256 === undefined && oid === undefined);
  if (bare) throw failure.notFound(`The hub says no checksum for ${bare.name} of ${model.id}`);
  return {
    id: model.id,
    format: model.format,
    commit,
    files: picked,
    size: picked.reduce((sum, { size }) => sum + size, 0),
  };
}

function pickGguf({ id, file, quantization }: Model, files: readonly HubFile[]): HubFile[] {
  const all = files.filter(({ name }) => name.endsWith('.gguf'));
  if (file !== undefined)
    return withParts(
      all,
      all.find(({ name }) => name === file),
    );
  const wanted = quantization?.toLowerCase();
  const fitting = all
    .filter(({ name }) => wanted === undefined || name.toLowerCase().includes(wanted))
    .filter(({ name }) => !/mmproj/i.test(name));
  const first = fitting.find(({ name }) => PART_FILE.test(name)) ?? fitting[0];
  const found = withParts(all, first);
  if (fitting.length > found.length) {
    throw failure.badRequest(
      `${id} holds several models: name one as file (${fitting
        .slice(0, MAX_NAMED)
        .map(({ name }) => name)
        .join(', ')}${fitting.length > MAX_NAMED ? ', …' : ''})`,
    );
  }
  return found;
}

/** A large model comes in several files, all of which are needed. */
function withParts(all: readonly HubFile[], file: HubFile | undefined): HubFile[] {
  if (!file) return [];
  const part = PART_FILE.exec(file.name)?.groups;
  return part
    ? all.filter(({ name }) => PART_FILE.exec(name)?.groups?.['base'] === part['base'])
    : [file];
}

/** The file that an engine loads: the first part, from which the engine finds the others. */
export const mainFile = ({ files }: Plan): string =>
  [...files]
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.gguf'))
    .sort()[0] ?? '';
