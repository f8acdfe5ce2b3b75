import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../runtime/core/errors.ts';
import { CATALOGUE } from '../../runtime/models/catalogue.ts';
import { readListed } from '../../runtime/models/listed.ts';
import { MODEL_ID } from '../../runtime/models/model.ts';
import { startModels } from './server.ts';

const read = (...list: unknown[]) => {
  const problems: string[] = [];
  return { models: readListed(list, (line) => problems.push(line)), problems };
};

describe('the catalogue', () => {
  it('has each model once in each format, with an id that is a path of two safe parts', () => {
    expect(new Set(CATALOGUE.map(({ id }) => id)).size).toBe(CATALOGUE.length);
    expect(CATALOGUE.filter(({ id }) => !MODEL_ID.test(id))).toEqual([]);
    expect(
      CATALOGUE.filter(
        ({ format, file }) => (format === 'gguf') !== (file?.endsWith('.gguf') ?? false),
      ),
    ).toEqual([]);
  });
});

describe('the list of the manifest', () => {
  it('takes an id alone and finds out the rest', () => {
    const { models, problems } = read(
      'org/Name-3B-Instruct-Q4_K_M-GGUF',
      'mlx-community/Name_3B-8bit',
    );
    expect(problems).toEqual([]);
    expect(models).toMatchObject([
      {
        id: 'org/Name-3B-Instruct-Q4_K_M-GGUF',
        name: 'Name 3B Instruct Q4 K M GGUF',
        format: 'gguf',
        quantization: 'Q4_K_M',
      },
      { id: 'mlx-community/Name_3B-8bit', format: 'mlx', quantization: '8bit' },
    ]);
  });

  it.each([
    [7, 'needs an id'],
    [{ name: 'x' }, 'needs an id'],
    ['../etc', 'needs an id'],
    ['a/../b', 'needs an id'],
    [{ id: 'a/b', quant: 'Q4' }, 'has the unknown field quant'],
    [{ id: 'a/b', format: 'onnx' }, 'neither gguf nor mlx'],
    [{ id: 'a/b', file: '../x.gguf' }, 'a file that is not'],
    [{ id: 'a/b', file: 'x/.hidden.gguf' }, 'a file that is not'],
    [{ id: 'a/b', size: -1 }, 'a size that is not'],
    [{ id: 'a/b', revision: 'a/../../b' }, 'a revision'],
    [{ id: 'a/b', licence: 3 }, 'a licence that is not text'],
  ])('refuses %j and says why', (entry, reason) => {
    const { models, problems } = read('fine/one', entry);
    expect(models.map(({ id }) => id)).toEqual(['fine/one']);
    expect(problems).toEqual([expect.stringContaining(reason)]);
    expect(problems[0]).toMatch(/^hosting\.models\.list\[1\] /);
  });

  it('and every other setting that is wrong keeps the server from starting, all said at once', async () => {
    const start = startModels({
      list: ['../x'],
      engine: 'cuda',
      env: { HF_ENDPOINT: 'ftp://x', MODELS_CONTEXT: '1000.5', MODELS_PARALLEL: 'many' },
    });
    const error = await start.then(
      () => null,
      (reason: unknown) => reason as ConfigError,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(error?.problems.map((line) => line.split(' ')[0])).toEqual([
      'HF_ENDPOINT',
      'hosting.models.list[0]',
      'MODELS_CONTEXT',
      'MODELS_PARALLEL',
      'hosting.models.engine',
    ]);
  });
});
