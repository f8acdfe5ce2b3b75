import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fillTemplate, loadTemplates } from '../../runtime/hosting/templates/templates.ts';

describe('what a template of the project makes up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-templates-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const load = (generate: string) => {
    writeFileSync(
      join(folder, 'mine.yaml'),
      `image: web:1\nport: 8080\nenv: [{ key: PASSWORD, generate: ${generate} }]\n`,
    );
    return loadTemplates(folder);
  };
  const place = { name: 'mine', domain: 'mine.apps.test', url: 'http://mine.apps.test' };

  it.each([
    ['true', 32],
    ['16', 16],
    ['256', 256],
  ])('generate: %s is a secret of %i characters', async (generate, length) => {
    const template = (await load(generate)).get('mine')!;
    const { generated, secrets } = fillTemplate(template, {}, place);
    expect(generated['PASSWORD']).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`));
    expect(secrets).toEqual(generated);
  });

  it.each(['1', '15', '0', '-5', '16.5', '257', 'false', 'long', 'null'])(
    'generate: %s is refused, as it guards nothing',
    async (generate) =>
      expect(load(generate)).rejects.toThrow(
        'template mine.yaml: env.PASSWORD.generate must be true or a number of characters from 16 to 256',
      ),
  );
});
