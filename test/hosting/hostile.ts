import { createHmac } from 'node:crypto';
import { tarHeader } from './raw-tar.ts';
import { type Member, tarOf, withChecksum } from './archives.ts';

/** What is sent by someone who means harm: a title, the thing, and what the refusal says. In a test of the whole, `8080` is a port that listens on loopback. */
export type Hostile<T> = readonly (readonly [string, T, RegExp])[];

const members: Hostile<readonly (readonly [string, Member])[]> = [
  ['a path that climbs out', [['../x', 'text']], /leads out of the archive/],
  ['a path that climbs out in the middle', [['a/../../x', 'text']], /leads out of the archive/],
  ['an absolute path', [['/etc/passwd', 'text']], /absolute path/],
  ['a Windows path', [['C:\\x', 'text']], /absolute path/],
  [
    'a link to an absolute path',
    [['x', { kind: 'symlink', target: '/etc' }]],
    /link "x" leads out/,
  ],
  ['a link that climbs out', [['a/x', { kind: 'symlink', target: '../../etc' }]], /leads out/],
  [
    'a link that climbs out and comes back',
    [['x', { kind: 'symlink', target: '../src/a' }]],
    /leads out/,
  ],
  ['a link to nothing', [['x', { kind: 'symlink', target: '' }]], /leads out/],
  [
    'a file below a link',
    [
      ['x', { kind: 'symlink', target: 'y' }],
      ['x/a', 'text'],
    ],
    /lies below "x"/,
  ],
  [
    'a file deep below a link',
    [
      ['x', { kind: 'symlink', target: 'y' }],
      ['x/a/b/c', 'text'],
    ],
    /lies below "x"/,
  ],
  [
    'a folder in place of a link',
    [
      ['x', { kind: 'symlink', target: 'y' }],
      ['x', { kind: 'directory' }],
    ],
    /there twice/,
  ],
  [
    'a link in place of a folder',
    [
      ['x/a', 'text'],
      ['x', { kind: 'symlink', target: 'y' }],
    ],
    /there twice/,
  ],
  [
    'a file below a file',
    [
      ['x', 'text'],
      ['x/a', 'text'],
    ],
    /lies below "x"/,
  ],
  [
    'two Dockerfiles',
    [
      ['Dockerfile', 'FROM a'],
      ['./Dockerfile', 'FROM b'],
    ],
    /there twice/,
  ],
  [
    'a hard link',
    [
      ['a', 'text'],
      ['b', { kind: 'hardlink', target: 'a' }],
    ],
    /hard link/,
  ],
  ['a hard link outside', [['b', { kind: 'hardlink', target: '/etc/passwd' }]], /hard link/],
  ['a character device', [['null', { kind: 'chardev' }]], /device or special/],
  ['a block device', [['sda', { kind: 'blockdev' }]], /device or special/],
  ['a fifo', [['pipe', { kind: 'fifo' }]], /device or special/],
  ['a sparse file', [['hole', { kind: 'sparse' }]], /device or special/],
  ['an unknown kind', [['odd', { kind: 'Z' }]], /device or special/],
  ['a name with a line end', [['a\nb', 'text']], /not an allowed name/],
  ['a name that is too long', [['x/'.repeat(600), 'text']], /not an allowed name/],
  [
    'a file that is too large',
    [['big', { data: Buffer.alloc(2_000_001) }]],
    /larger than \d+ bytes/,
  ],
  [
    'too much in all',
    [0, 1, 2, 3].map((index) => [`f${index}`, { data: Buffer.alloc(600_000) }] as const),
    /more than 2000000 bytes/,
  ],
  [
    'too many entries',
    Array.from({ length: 101 }, (_, index) => [`f${index}`, ''] as const),
    /more than 100 entries/,
  ],
  ['no files', [['folder', { kind: 'directory' }]], /holds no files/],
  [
    'a file that says it is longer than it is',
    [['a', { size: 5000, data: Buffer.from('short') }]],
    /cut off|damaged/,
  ],
];

const header = (kind: string, size: number) => {
  const block = tarHeader({ path: 'p', kind: 'file', size, mode: 0 });
  block.write(kind, 156);
  return withChecksum(block);
};

/** A tar with its first block changed. */
function spoilt(change: (tar: Buffer) => void): Buffer {
  const tar = tarOf({ ab: 'text' });
  change(tar);
  withChecksum(tar.subarray(0, 512));
  return tar;
}

/** Refused with 422, for a limit of 100 entries and 2,000,000 bytes. */
export const hostileArchives: Hostile<Buffer> = [
  ...members.map(([title, list, message]) => [title, tarOf(list), message] as const),
  ['nothing', Buffer.alloc(0), /empty or no tar/],
  ['noise', Buffer.from('x'.repeat(2000)), /damaged|cut off|no tar/],
  ['a wrong checksum', Buffer.from(tarOf({ a: 'text' })).fill(98, 0, 1), /damaged|checksum/],
  ['an archive without its end', tarOf({ a: 'text' }).subarray(0, 700), /cut off|damaged/],
  ['a name that is not UTF-8', spoilt((tar) => tar.fill(0xff, 0, 1)), /name/],
  ['a negative size', spoilt((tar) => tar.fill(0xff, 124, 136)), /damaged/],
  ['a size that is no number', spoilt((tar) => tar.fill(0x81, 124, 125)), /number/],
  [
    'an extended header without end',
    Buffer.concat([header('x', 2 ** 30), Buffer.alloc(4096)]),
    /header|damaged|cut off/,
  ],
];

/** Refused with 422. */
export const hostileDockerfiles: Hostile<string> = [
  ['ADD of an address', 'FROM a\nADD https://x.test/y /y', /ADD of an address/],
  [
    'ADD of an address over several lines',
    'FROM a\nADD \\\n  # why\n  https://x.test/y \\\n  /y',
    /ADD of an address/,
  ],
  ['ADD of an address in JSON', 'FROM a\nADD ["https://x.test/y", "/y"]', /ADD of an address/],
  [
    'ADD of an address behind escapes of JSON',
    'FROM a\nADD ["\\u0068ttp:\\/\\/127.0.0.1/y", "/y"]',
    /ADD of an address/,
  ],
  [
    'ADD of an address in pieces of quotes',
    'FROM a\nADD ht"t"p://x.test/y /y',
    /ADD of an address/,
  ],
  [
    'ADD of an address behind backslashes',
    'FROM a\nADD h\\ttp:\\/\\/127.0.0.1/y /y',
    /ADD of an address/,
  ],
  ['ADD in small letters', 'FROM a\nadd http://x.test/y /y', /ADD of an address/],
  ['ADD of a repository', 'FROM a\nADD git@x.test:a/b.git /y', /ADD of an address/],
  ['ADD with a variable', 'FROM a\nARG U=http://x\nADD $U /y', /ADD with a variable/],
  [
    'ADD with a variable behind escapes of JSON',
    'FROM a\nARG U=http://x\nADD ["\\u0024U", "/y"]',
    /ADD with a variable/,
  ],
  ['ADD behind ONBUILD', 'FROM a\nONBUILD ADD http://x.test/y /y', /ADD of an address/],
  [
    'ADD with another escape character',
    '# escape=`\nFROM a\nADD `\nhttp://x.test/y /y',
    /ADD of an address/,
  ],
  ['a frontend of its own', '# syntax=evil/frontend:1\nFROM a', /# syntax=/],
  ['RUN without the sandbox', 'FROM a\nRUN --security=insecure id', /--security=insecure/],
  ["RUN in the host's network", 'FROM a\nRUN --network=host id', /--network=host/],
  [
    'RUN in a network that a variable names',
    'FROM a\nARG N=host\nRUN --network=$N id',
    /--network=\$N/,
  ],
  ['an image of another app', 'FROM localhost/twofold-1/other:3', /an image of this server/],
  [
    'an image of another app in pieces of quotes',
    'FROM local"host"/twofold-1/other:3',
    /an image of this server/,
  ],
  [
    'an image of another app behind nothing',
    'FROM ${NOTHING}localhost/twofold-1/other:3',
    /an image of this server/,
  ],
  [
    'COPY from an image of another app',
    'FROM a\nCOPY --from=localhost/twofold-1/other:3 /src /src',
    /an image of this server/,
  ],
  [
    'a mount of an image of another app',
    'FROM a\nRUN --mount=type=bind,from=localhost/twofold-1/other:3,target=/x ls',
    /an image of this server/,
  ],
  [
    'a mount of one in quotes',
    'FROM a\nRUN --mount=type=bind,"from=localhost/twofold-1/other:3",target=/x ls',
    /an image of this server/,
  ],
  [
    'an image of another app behind ARG',
    'ARG I=localhost/twofold-1/other:3\nFROM ${I}',
    /an image of this server/,
  ],
  [
    'an image of another app behind two ARGs',
    'ARG A=local\nARG B=${A}host\nFROM $B/twofold-1/other:3',
    /an image of this server/,
  ],
  [
    'an image behind a form of variable that hides it',
    'ARG I=x\nFROM ${I:+localhost/twofold-1/other:3}',
    /cannot be determined/,
  ],
  ['a registry on loopback', 'FROM 127.0.0.1:8080/x', /private network/],
  ['a registry on loopback by name', 'FROM LOCALHOST:8080/x', /private network/],
  [
    'a registry on loopback by another number',
    'FROM a\nCOPY --from=2130706433:80/x /a /b',
    /private network/,
  ],
  ['a registry on loopback in a short form', 'FROM 127.1/x', /private network/],
  ['a registry on loopback in IPv6', 'FROM [::1]:80/x', /private network/],
  ["the cloud's own address", 'FROM 169.254.169.254/latest/meta-data', /private network/],
  ['no FROM', 'RUN echo', /no FROM/],
  ['nothing', '', /no FROM/],
  ['what is no text', 'FROM a\0b', /no text/],
];

/** Refused with 400. */
export const hostileGitUrls: Hostile<string> = [
  ['a path of this machine', '/etc', /not a valid address/],
  ['a path from here', './x', /not a valid address/],
  ['a path with a host in front', 'C:\\repositories\\x', /begin with https/],
  ['a file', 'file:///etc', /begin with https/],
  ['a program', 'ext::sh -c id', /not a valid address/],
  ['a program without spaces', 'ext::id', /begin with https/],
  ['an open file', 'fd::17', /begin with https/],
  ['a protocol without a signature', 'git://x.test/y', /begin with https/],
  ['a protocol in the open', 'http://x.test/a', /begin with https/],
  ['another protocol', 'ftp://x.test/a', /begin with https/],
  ['a script', 'javascript:alert(1)', /begin with https/],
  ['a password', 'https://u:p@x.test/a', /must not hold a password/],
  ['a user name', 'https://token@x.test/a', /must not hold a password/],
  ['an option of ssh', 'ssh://-oProxyCommand=id/x', /not a valid address/],
  ['an option of ssh as its user', 'ssh://-oProxyCommand=id@x.test/x', /not a valid address/],
  ['an option of git', '--upload-pack=id', /not a valid address/],
  ['an option in short form', '-o@x.test:y', /not a valid address/],
  ['no repository', 'https://x.test', /not a valid address/],
  ['a space', 'https://x.test/a b', /not a valid address/],
  ['a line end', 'https://x.test/a\n--upload-pack=id', /not a valid address/],
  ['a NUL', 'https://x.test/a\0b', /not a valid address/],
  ['a port that is none', 'https://x.test:99999/a', /not a valid address/],
  ['loopback', 'https://127.0.0.1:8080/a', /private network/],
  ['loopback by name', 'https://localhost:8080/a', /private network/],
  ['loopback as a number', 'https://2130706433:8080/a', /private network/],
  ['loopback in hexadecimal', 'https://0x7f000001:8080/a', /private network/],
  ['loopback in octal', 'https://0177.0.0.1:8080/a', /private network/],
  ['loopback in short', 'https://127.1:8080/a', /private network/],
  ['loopback in IPv6', 'https://[::1]:8080/a', /private network/],
  ['loopback in IPv6 of IPv4', 'https://[::ffff:127.0.0.1]:8080/a', /private network/],
  ['any address of this machine', 'https://0.0.0.0:8080/a', /private network/],
  ['loopback behind ssh', 'ssh://git@127.0.0.1:8080/a', /private network/],
  ['loopback behind ssh, as people write it', 'git@localhost:a/b.git', /private network/],
  ['a private network', 'https://10.0.0.1/a', /private network/],
  ["the cloud's own address", 'https://169.254.169.254/latest/meta-data', /private network/],
  ['a host that nobody knows', 'https://nobody.invalid/a', /not known/],
];

/** One call and the status it is refused with. */
export interface HostileCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

const make = (body: unknown): HostileCall => ({
  method: 'POST',
  path: '/api/apps',
  body,
  status: 400,
});
const onShop = (method: string, path: string, body?: unknown, status = 400): HostileCall => ({
  method,
  path: `/api/apps/shop${path}`,
  status,
  ...(body !== undefined && { body }),
});

/** Names, paths and environments. `shop` is an app that was never deployed. */
export const hostileCalls: Hostile<HostileCall> = [
  ['a name that climbs', make({ name: '../../etc/x' }), /name/],
  ['a name with a slash', make({ name: 'a/b' }), /name/],
  ['a name of dots', make({ name: '..' }), /name/],
  ['a name in other letters', make({ name: 'ｓｈｏｐ' }), /name/],
  ['a name with a letter that looks like another', make({ name: 'sh\u043ep' }), /name/],
  ['a name with a line end', make({ name: 'shop\n' }), /name/],
  ['a name with a NUL', make({ name: 'a\0b' }), /name/],
  ['a name that is an option', make({ name: '--privileged' }), /name/],
  ['a name without end', make({ name: 'a'.repeat(64) }), /name/],
  ['a name that is no text', make({ name: { $ne: null } }), /name/],
  ["a name of the server's own", make({ name: 'api' }), /reserved/],
  [
    'a field of the prototype',
    {
      ...make(undefined),
      body: Buffer.from('{"name":"x","__proto__":{"admin":true}}'),
      headers: { 'content-type': 'application/json' },
    },
    /Invalid JSON|__proto__/,
  ],
  [
    'a field that nobody knows',
    make({ name: 'x', privileged: true }),
    /privileged is not a known field/,
  ],
  ['a domain with a path', make({ name: 'x', domain: 'x.test/../y' }), /domain/],
  ['a domain of this machine', make({ name: 'x', domain: '127.0.0.1' }), /domain/],
  ['a domain with a line end', make({ name: 'x', domain: 'x.test\r\nX-Evil: 1' }), /domain/],
  ['an image with an option', make({ name: 'x', image: '--pull=always' }), /image/],
  ['an image with a shell in it', make({ name: 'x', image: 'a;id' }), /image/],
  [
    'a volume that climbs',
    make({ name: 'x', volumes: [{ name: 'a', path: '/data/../../etc' }] }),
    /volumes/,
  ],
  [
    'a volume over /proc',
    make({ name: 'x', volumes: [{ name: 'a', path: '/proc/sys' }] }),
    /volumes/,
  ],
  ['a volume over everything', make({ name: 'x', volumes: [{ name: 'a', path: '/' }] }), /volumes/],
  [
    'a folder of the machine as a volume',
    make({ name: 'x', volumes: [{ name: '/etc', path: '/data' }] }),
    /volumes/,
  ],
  [
    'a volume with options',
    make({ name: 'x', volumes: [{ name: 'a', path: '/data:rw,exec' }] }),
    /volumes/,
  ],
  ['a key of the environment with an equals sign', make({ name: 'x', env: { 'A=B': '1' } }), /env/],
  [
    'a key of the environment with a line end',
    make({ name: 'x', env: { 'A\nLD_PRELOAD': '1' } }),
    /env/,
  ],
  ['an empty key', make({ name: 'x', env: { '': '1' } }), /env/],
  ['a value with a NUL', make({ name: 'x', env: { A: 'a\0b' } }), /env/],
  ['a value that is a list', make({ name: 'x', env: { A: ['1'] } }), /env/],
  ['a command with a text in place of a list', make({ name: 'x', command: 'rm -rf /' }), /command/],
  [
    'a health path that is an address',
    make({ name: 'x', health: { path: 'http://169.254.169.254/' } }),
    /health/,
  ],
  [
    'a health path with a line end',
    make({ name: 'x', health: { path: '/\r\nHost: evil' } }),
    /health/,
  ],
  ['more memory than a number', make({ name: 'x', resources: { memory_mb: 1e300 } }), /memory/],
  ['replicas below none', make({ name: 'x', replicas: -1 }), /replicas/],
  [
    'a folder of the source that climbs',
    onShop('POST', '/deploy', { git: { url: 'https://1.1.1.1/a', path: '../../etc' } }),
    /path/,
  ],
  [
    'a branch that is an option',
    onShop('POST', '/deploy', { git: { url: 'https://1.1.1.1/a', ref: '--upload-pack=id' } }),
    /ref/,
  ],
  ["a secret's key that climbs", onShop('PUT', '/secrets/..%2f..%2fx', { value: 'x' }), /key/],
  ['a secret with a NUL', onShop('PUT', '/secrets/A', { value: 'a\0b' }), /NUL/],
  ['an environment that is a list', onShop('PUT', '/env', ['A=1']), /object|Invalid request/],
  [
    'a deployment that is no number',
    onShop('GET', '/deployments/1e9999', undefined, 404),
    /not found/,
  ],
  ['a command with a NUL', onShop('POST', '/exec', { command: ['a\0b'] }), /deployed|NUL/],
  ['logs since a shell', onShop('GET', '/logs?since=%24(id)'), /since/],
  [
    'an app that climbs',
    { method: 'GET', path: '/api/apps/..%2f..%2fetc%2fpasswd', status: 404 },
    /not found/i,
  ],
  [
    'an app of the prototype',
    { method: 'GET', path: '/api/apps/__proto__', status: 404 },
    /not found/i,
  ],
  [
    'a template that climbs',
    {
      method: 'POST',
      path: '/api/templates/..%2f..%2fsecret/deploy',
      body: { name: 'x' },
      status: 404,
    },
    /not found/i,
  ],
  [
    'a template of the prototype',
    { method: 'POST', path: '/api/templates/constructor/deploy', body: { name: 'x' }, status: 404 },
    /not found/i,
  ],
  [
    'an address that is damaged',
    { method: 'GET', path: '/api/apps/%E0%A4%A', status: 404 },
    /not found/i,
  ],
];

const sign = (body: string | Buffer, secret: string) => ({
  'x-github-event': 'push',
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});
const PUSH = JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40) });

/** Bodies of webhooks for the app `shop`, whose secret is known. */
export function hostileWebhooks(secret: string): Hostile<HostileCall> {
  const hook = (
    body: string | Buffer,
    headers: Record<string, string>,
    status: number,
  ): HostileCall => ({
    method: 'POST',
    path: '/api/webhooks/shop',
    body: Buffer.from(body),
    status,
    headers: { authorization: '', 'content-type': 'application/json', ...headers },
  });
  return [
    ['without a signature', hook(PUSH, { 'x-github-event': 'push' }, 401), /Invalid signature/],
    [
      'with the signature of another secret',
      hook(PUSH, sign(PUSH, 'other'), 401),
      /Invalid signature/,
    ],
    [
      'with the signature of another body',
      hook(`${PUSH} `, sign(PUSH, secret), 401),
      /Invalid signature/,
    ],
    [
      'with an empty signature',
      hook(PUSH, { 'x-gitea-event': 'push', 'x-gitea-signature': '' }, 401),
      /Invalid signature/,
    ],
    [
      'with an empty token',
      hook(PUSH, { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': '' }, 401),
      /Invalid signature/,
    ],
    [
      'with the old signature of GitHub',
      hook(
        PUSH,
        {
          'x-github-event': 'push',
          'x-hub-signature': `sha1=${createHmac('sha1', secret).update(PUSH).digest('hex')}`,
        },
        401,
      ),
      /Invalid signature/,
    ],
    [
      'for an app that is not there',
      { ...hook(PUSH, sign(PUSH, secret), 401), path: '/api/webhooks/nobody' },
      /Invalid signature/,
    ],
    [
      'for an app that climbs',
      { ...hook(PUSH, sign(PUSH, secret), 401), path: '/api/webhooks/..%2fshop' },
      /Invalid signature/,
    ],
    ['that is no JSON', hook('{', sign('{', secret), 400), /not a JSON object/],
    [
      'that is a form',
      hook('payload=%7B%7D', sign('payload=%7B%7D', secret), 400),
      /not a JSON object/,
    ],
    ['that is a list', hook('[]', sign('[]', secret), 400), /not a JSON object/],
    ['that is nothing', hook('null', sign('null', secret), 400), /not a JSON object/],
    [
      'whose branch is no text',
      hook('{"ref":{"a":1}}', sign('{"ref":{"a":1}}', secret), 400),
      /ref is required/,
    ],
    [
      'that is larger than any push',
      hook(Buffer.alloc(6 * 1024 * 1024, ' '), sign('', secret), 413),
      /./,
    ],
  ];
}
