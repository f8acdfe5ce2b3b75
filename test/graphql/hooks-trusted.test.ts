import { describe, expect, it } from 'vitest';
import {
  call,
  hooked,
  LISTED,
  PREPARED,
  RUN,
  startHooked,
  useHookedServer,
} from './hooked-server.ts';

useHookedServer();

describe('trusted documents', () => {
  const manifest = (file: string) => `name: hooks\napi: { trusted_documents: { file: ${file} } }\n`;

  it('are validated with the rules of plugins at the start, and not again', async () => {
    const server = await startHooked(manifest('listed.json'));
    try {
      expect(hooked.looked).toBe(1);
      const { body } = await call({ query: LISTED }, {}, server.url);
      expect(body).toEqual({ data: { notes: [] } });
      expect(hooked.said).toEqual([...PREPARED, ...RUN('query Listed')]);
      expect(hooked.looked).toBe(1);
      const other = await call({ query: '{ notes { text } }' }, {}, server.url);
      expect(other.body.errors[0].extensions.code).toBe('DOCUMENT_NOT_TRUSTED');
      expect(hooked.said.slice(-2)).toEqual([
        'a format DOCUMENT_NOT_TRUSTED',
        'b format DOCUMENT_NOT_TRUSTED',
      ]);
    } finally {
      await server.close();
    }
  });

  it('that break one end the start, by name', async () => {
    await expect(startHooked(manifest('bad.json'))).rejects.toThrow(
      'query Bad of api.trusted_documents: forbidden is no name',
    );
  });
});
