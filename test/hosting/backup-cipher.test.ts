import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { backupKey, decrypt, encrypt } from '../../runtime/hosting/backups/cipher.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';

const CHUNK = 256 * 1024;
const HEAD = 56;
const key = randomBytes(32);

async function* chunksOf(bytes: Buffer, size = 100_003): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}
const sealed = (bytes: Buffer) => all(encrypt(chunksOf(bytes), key));
const opened = (bytes: Buffer, by: Buffer | null = key) => all(decrypt(chunksOf(bytes), by));

describe('encrypted backups', () => {
  it.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])(
    'of %i bytes are read again',
    async (size) => {
      const bytes = randomBytes(size);
      const stored = await sealed(bytes);
      expect((await opened(stored)).equals(bytes)).toBe(true);
      expect((await sealed(bytes)).equals(stored)).toBe(false);
      if (size > 100) expect(stored.includes(bytes.subarray(0, 50))).toBe(false);
    },
  );

  const text = randomBytes(2 * CHUNK + 500);
  const size = 4 + CHUNK + 16;
  const damaged = { status: 422, code: 'BACKUP_DAMAGED' };

  it('are refused when one bit differs, wherever it is', async () => {
    const stored = await sealed(text);
    const places = [16, HEAD, HEAD + 1, HEAD + 4, HEAD + size - 1, HEAD + size, stored.length - 1];
    for (const at of [...places, HEAD + Math.floor(Math.random() * (stored.length - HEAD))]) {
      const changed = Buffer.from(stored);
      changed[at]! ^= 4;
      await expect(opened(changed), `byte ${at}`).rejects.toMatchObject({ status: 422 });
    }
  });

  it('are refused when they are cut, longer, or in another order', async () => {
    const stored = await sealed(text);
    const part = (index: number) => stored.subarray(HEAD + index * size, HEAD + (index + 1) * size);
    const head = stored.subarray(0, HEAD);
    const wrong = [
      ...[HEAD - 1, HEAD, HEAD + size, HEAD + 2 * size, stored.length - 1].map((end) =>
        stored.subarray(0, end),
      ),
      Buffer.concat([head, part(1), part(0), part(2)]),
      Buffer.concat([head, part(0), part(0), part(1), part(2)]),
      Buffer.concat([head, part(0), part(2)]),
      Buffer.concat([stored, Buffer.from('x')]),
      Buffer.concat([stored, part(2)]),
    ];
    for (const bytes of wrong) await expect(opened(bytes)).rejects.toMatchObject(damaged);
    const other = await sealed(text);
    const mixed = Buffer.concat([head, other.subarray(HEAD)]);
    await expect(opened(mixed)).rejects.toMatchObject(damaged);
  });

  it('say when the key is another one, or none', async () => {
    const stored = await sealed(text);
    const wrong = { status: 422, code: 'BACKUP_KEY_WRONG' };
    await expect(opened(stored, randomBytes(32))).rejects.toMatchObject(wrong);
    await expect(opened(stored, null)).rejects.toMatchObject(wrong);
    expect(await opened(text, key)).toEqual(text);
  });

  it('take a key of 32 bytes in base64, and no other', () => {
    const given = (BACKUP_KEY: string) => backupKey(createSettings({ BACKUP_KEY }));
    expect(given(key.toString('base64'))).toEqual(key);
    expect(given('')).toBe(null);
    for (const text of [
      key.toString('hex'),
      'short',
      randomBytes(31).toString('base64'),
      `${key.toString('base64')}!`,
    ])
      expect(() => given(text), text).toThrow('BACKUP_KEY must be 32 bytes in base64');
  });
});
