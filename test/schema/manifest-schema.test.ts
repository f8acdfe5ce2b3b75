import { expect, it } from 'vitest';
import { manifestSchema } from '../../schema/manifest-schema.ts';

// `npm run schema` writes the file again after a change of a section.
it('is published as the sections of the capabilities make it', async () => {
  await expect(`${JSON.stringify(manifestSchema, null, 2)}\n`).toMatchFileSnapshot(
    '../../schema/manifest.schema.json',
  );
});
