import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseOwner } from '../../runtime/hosting/engine/dockerode/volume-owner.ts';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const PASSWD =
  'root:x:0:0::/:/bin/sh\nnode:x:1042:1043::/home/node:/bin/sh\n1042:x:7:7::/:/bin/sh\n';
const GROUP = 'root:x:0:\nnode:x:1043:\nusers:x:100:node\n';

describe('the user of a container', () => {
  it.each([
    ['node', { uid: 1042, gid: 1043 }],
    ['node:users', { uid: 1042, gid: 100 }],
    ['node:55', { uid: 1042, gid: 55 }],
    ['1000', { uid: 1000, gid: 0 }],
    ['1000:users', { uid: 1000, gid: 100 }],
    // A name comes before a number.
    ['1042', { uid: 7, gid: 7 }],
    ['nobody', null],
    ['node:nobody', null],
  ])('%s is %j', (user, owner) =>
    expect(parseOwner(user, { passwd: PASSWD, group: GROUP })).toEqual(owner),
  );

  it('is found by its number too, for its group', () =>
    expect(parseOwner('1043', { passwd: 'a:x:1043:9::/:/bin/sh', group: '' })).toEqual({
      ...{ uid: 1043, gid: 9 },
    }));
});

describeEachEngine('a new volume', ({ socket, kind }) => {
  let server: TestServer;
  let image: string;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  const exec = async (name: string, command: string) => {
    const { body } = await server.api('POST', `/api/apps/${name}/exec`, {
      command: ['sh', '-c', command],
    });
    return `${body.stdout}${body.stderr}`.trim();
  };
  const ownerOf = (name: string, path: string) => exec(name, `stat -c %u:%g ${path}`);
  const deploy = async (name: string, lines: string[]) => {
    const source = tarGzOf({
      Dockerfile: ['FROM docker.io/twofold-test/web:1', 'COPY etc/ /etc/', ...lines].join('\n'),
      'etc/passwd': 'root:x:0:0::/:/bin/sh\nnode:x:1042:1043::/:/bin/sh\n',
      'etc/group': 'root:x:0:\nnode:x:1043:\n',
    });
    const volumes = [{ name: 'data', path: '/app/data' }];
    const { status, body } = await server.api(
      'POST',
      '/api/deploy?wait=true',
      sourceForm({ name, port: 8080, volumes }, source),
    );
    expect([status, body.reason ?? body.error ?? null]).toEqual([200, null]);
  };

  it('belongs to the user that the image runs as, before a file is in it and after a backup', async () => {
    await deploy('named', ['USER node']);
    expect(await ownerOf('named', '/app/data')).toBe('1042:1043');
    const backup = await server.api('POST', '/api/apps/named/backups?wait=true');
    expect([backup.status, backup.body.error]).toEqual([200, null]);
    expect(await ownerOf('named', '/app/data')).toBe('1042:1043');
    expect(await exec('named', 'echo mine > /app/data/file && cat /app/data/file')).toBe('mine');
    await deploy('named', ['LABEL second=yes', 'USER node']);
    expect(await exec('named', 'cat /app/data/file')).toBe('mine');
  });

  it('belongs to a user without a name, and to root when the image runs as root', async () => {
    await deploy('numbered', ['USER 1000']);
    expect(await ownerOf('numbered', '/app/data')).toBe('1000:0');
    await deploy('rooted', []);
    expect(await ownerOf('rooted', '/app/data')).toBe('0:0');
  });

  it('keeps its owner once there are files in it', async () => {
    const volumes = [{ name: 'data', path: '/app/data' }];
    await server.api('POST', '/api/apps', { name: 'used', image, volumes });
    await exec('used', 'echo old > /app/data/file');
    const changed = await server.api('PATCH', '/api/apps/used?apply=true', { user: '1000' });
    expect(changed.status).toBe(200);
    expect(await ownerOf('used', '/app/data /app/data/file')).toBe('0:0\n0:0');
    expect(await exec('used', 'id -u; cat /app/data/file')).toBe('1000\nold');
  });

  if (kind === 'docker')
    it('belongs to that user too where the image has an empty folder of root', async () => {
      await deploy('prepared', ['RUN mkdir -p /app/data', 'USER node']);
      expect(await ownerOf('prepared', '/app/data')).toBe('1042:1043');
    });
});
