import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createS3Target, type S3Options } from '../../runtime/hosting/backups/targets/s3.ts';
import { type Target, tryTarget } from '../../runtime/hosting/backups/targets/target.ts';
import { ACCESS_KEY, type S3Server, SECRET_KEY, signatureOf, startS3 } from './s3-server.ts';

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const MIB = 1024 * 1024;

describe('the S3 server of the tests', () => {
  const scope = '20130524/us-east-1/s3/aws4_request';
  const common = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' };
  const empty = { ...common, 'x-amz-content-sha256': EMPTY };
  const usual = ['host', 'x-amz-content-sha256', 'x-amz-date'];

  it.each([
    {
      example: 'GET Object',
      request: {
        ...{ method: 'GET', url: '/test.txt', headers: { ...empty, range: 'bytes=0-9' } },
        signedHeaders: ['host', 'range', 'x-amz-content-sha256', 'x-amz-date'],
      },
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    {
      example: 'PUT Object',
      request: {
        ...{ method: 'PUT', url: '/test%24file.text' },
        headers: {
          ...common,
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-content-sha256':
            '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        },
        signedHeaders: [
          'date',
          'host',
          'x-amz-content-sha256',
          'x-amz-date',
          'x-amz-storage-class',
        ],
      },
      signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    },
    {
      example: 'GET Bucket Lifecycle',
      request: { method: 'GET', url: '/?lifecycle', headers: empty, signedHeaders: usual },
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    },
    {
      example: 'List Objects',
      request: {
        method: 'GET',
        url: '/?max-keys=2&prefix=J',
        headers: empty,
        signedHeaders: usual,
      },
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  ])('signs the published example "$example" as AWS does', ({ request, signature }) =>
    expect(signatureOf({ ...request, scope })).toBe(signature),
  );
});

describe('a target in S3', () => {
  let server: S3Server;
  let options: S3Options;
  let target: Target;
  beforeEach(async () => {
    server = await startS3();
    options = {
      ...{ endpoint: server.endpoint, bucket: 'backups', region: 'eu-test-1', path_style: true },
      ...{ prefix: 'host 1', access_key_id: ACCESS_KEY, secret_access_key: SECRET_KEY },
    };
    target = createS3Target(options);
  });
  afterEach(() => server.close());

  async function* chunksOf(bytes: Buffer, size = 300_000): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const read = async (name: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of target.get(name)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const large = randomBytes(70 * MIB);

  it('stores what fits in one request, and returns it', async () => {
    const bytes = randomBytes(MIB + 1);
    await target.put("i/shop/it's (1)+~.tar", chunksOf(bytes));
    expect(server.requests).toHaveLength(1);
    expect(server.objects.get("host 1/i/shop/it's (1)+~.tar")).toEqual(bytes);
    expect((await read("i/shop/it's (1)+~.tar")).equals(bytes)).toBe(true);
    await target.put('empty', chunksOf(Buffer.alloc(0)));
    expect(await read('empty')).toHaveLength(0);
  });

  it('stores more than 64 MiB in parts, and says before the first part how to remove them', async () => {
    const begun: (string | number)[] = [];
    await target.put('big', chunksOf(large), async (attempt) => {
      begun.push(attempt, server.uploads.get(attempt)!.parts.size);
    });
    expect(begun).toEqual(['upload&1', 0]);
    expect(server.uploads.size).toBe(0);
    // The download breaks once, and is continued where it broke.
    server.fail(/GET .*big/, (request, response) => {
      response.end = ((bytes: Buffer) => {
        response.write(bytes.subarray(0, 9 * MIB), () => request.socket.destroy());
        return response;
      }) as never;
      return true;
    });
    expect((await read('big')).equals(large)).toBe(true);
    expect(server.requests.filter((line) => line.startsWith('GET'))).toHaveLength(2);
  });

  it('leaves nothing under the final name, and no part, when the stream fails', async () => {
    const failing = async function* () {
      yield large;
      throw new Error('the source broke');
    };
    await expect(target.put('half', failing())).rejects.toThrow('the source broke');
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
    const begun: string[] = [];
    const killed = target.put('killed', chunksOf(large), async (attempt) => {
      begun.push(attempt);
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    await target.discard('killed', begun[0]!);
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  });

  it('goes on after a cut, a refusal for a moment, and an error inside a success', async () => {
    server.fail(/PUT .*partNumber=2/, (request) => {
      request.once('data', () => request.socket.destroy());
      return false;
    });
    server.fail(/PUT .*partNumber=3/, (_request, response) => {
      response.writeHead(503, { connection: 'close' }).end('<Error><Code>SlowDown</Code></Error>');
      return false;
    });
    server.fail(/POST .*uploadId/, (request, response) => {
      request.resume().on('end', () => response.end('<Error><Code>InternalError</Code></Error>'));
      return false;
    });
    server.fail(/GET .*big/, (_request, response) => {
      response.writeHead(200, { 'content-length': large.length, etag: '"x"' });
      response.write(large.subarray(0, 5 * MIB), () => response.socket?.destroy());
      return false;
    });
    await target.put('big', chunksOf(large));
    // The first answer had another tag: the object was exchanged, and its bytes must not be mixed.
    await expect(read('big')).rejects.toThrow('PreconditionFailed');
    expect((await read('big')).equals(large)).toBe(true);
  });

  it('lists page after page, and removes', async () => {
    for (const name of ['a/1', 'a/2', 'a/3&x', 'a/4', 'b/1'])
      await target.put(name, chunksOf(large.subarray(0, 9)));
    expect(await target.list('a/')).toEqual(['a/1', 'a/2', 'a/3&x', 'a/4']);
    await target.remove('a/1');
    await target.remove('a/1');
    expect(await target.list('a/')).toEqual(['a/2', 'a/3&x', 'a/4']);
  });

  it.each([
    ['another secret', { secret_access_key: 'wrong' }, 'SignatureDoesNotMatch'],
    ['another key', { access_key_id: 'AKIANOBODY' }, 'InvalidAccessKeyId'],
    ['another region', { region: 'us-east-1' }, 'the region is eu-test-1'],
    ['another bucket', { bucket: 'others' }, 'NoSuchBucket'],
  ])('is refused with %s, once and with the reason', async (_what, change, reason) => {
    const wrong = createS3Target({ ...options, ...change });
    await expect(tryTarget(wrong)).rejects.toThrow(reason);
    await expect(wrong.list('')).rejects.toThrow(reason);
    expect(server.objects.size).toBe(0);
  });
});
