import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCommand } from '../engines/command.ts';

/** A way in that stands between a client and one app: ours, or a program of others. */
export interface Peer extends Program {
  readonly name: string;
  readonly title: string;
  readonly port: number;
}

/** What is started. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What each is asked for: requests for `app.test` go to the target, and say who asked, for which host, and how. */
export interface Setting {
  readonly folder: string;
  readonly target: number;
  readonly firstPort: number;
}

/** The app behind every one: nginx where it is installed, since a slow target would make all of them look alike. */
export function targetServer({ folder, target }: Setting): Program {
  const nginx = findCommand('nginx');
  const body = 'x'.repeat(64);
  if (nginx) {
    const answer = (path: string, text: string) =>
      `location ${path} { default_type text/plain; return 200 "${text}"; }`;
    const config = nginxConfig(
      folder,
      'target',
      `server { listen 127.0.0.1:${target}; keepalive_requests 1000000000; ${answer('/', body)} ${answer('= /seen', SEEN)} }`,
    );
    return { command: nginx, args: ['-c', config] };
  }
  const program = `import { createServer } from 'node:http';
const body = Buffer.from('${body}');
createServer(({ url, headers: h }, r) => {
  const text = url === '/seen' ? Buffer.from([h['host'], h['x-forwarded-for'], h['x-forwarded-proto'], h['x-forwarded-host']].join('|')) : body;
  r.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': text.length }).end(text);
}).listen(${target}, '127.0.0.1');`;
  return { command: process.execPath, args: [write(folder, 'target.mjs', program)] };
}

const SEEN = '$http_host|$http_x_forwarded_for|$http_x_forwarded_proto|$http_x_forwarded_host';

/** Those that are installed, ours first. Each keeps its connections to the target, logs no request, and uses what its makers advise. */
export function peers(setting: Setting): Peer[] {
  const rows: readonly (readonly [
    string,
    string,
    (setting: Setting, port: number) => readonly string[],
  ])[] = [
    ['ours', 'Twofold', oursArgs],
    ['caddy', 'Caddy', caddyArgs],
    ['caddy-1', 'Caddy with one thread', caddyArgs],
    ['nginx', 'nginx', nginxArgs],
    ['haproxy', 'HAProxy', haproxyArgs],
  ];
  return rows.flatMap(([name, title, argsOf], index) => {
    const command = name === 'ours' ? process.execPath : findCommand(name.replace('-1', ''));
    if (!command) return [];
    const port = setting.firstPort + index;
    return [
      {
        name,
        title,
        port,
        command,
        args: argsOf(setting, port),
        ...(name === 'caddy-1' && { env: { GOMAXPROCS: '1' } }),
      },
    ];
  });
}

function oursArgs({ folder, target }: Setting, port: number): readonly string[] {
  const ingress = fileURLToPath(
    new URL('../../runtime/hosting/ingress/ingress.ts', import.meta.url),
  );
  const program = `import { createIngress } from ${JSON.stringify(ingress)};
const ingress = createIngress({ http: ${port}, https: 0, host: '127.0.0.1', now: Date.now });
await ingress.listen();
ingress.set({ appId: 'a', hosts: ['app.test'], state: 'serving', targets: [{ id: 'x', host: '127.0.0.1', port: ${target} }] });`;
  return [write(folder, 'ours.mjs', program)];
}

/** It logs no request and keeps 32 idle connections to a host unless told otherwise; more do no harm. */
function caddyArgs({ folder, target }: Setting, port: number): readonly string[] {
  const config = `{\n admin off\n auto_https off\n}\nhttp://app.test:${port} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${target} {\n  transport http {\n   keepalive_idle_conns_per_host 128\n  }\n }\n}\n`;
  return ['run', '--adapter', 'caddyfile', '--config', write(folder, `Caddyfile-${port}`, config)];
}

/** One worker, as ours is one process; `keepalive` with HTTP/1.1 and no `Connection` is what its manual says of upstreams. */
function nginxArgs({ folder, target }: Setting, port: number): readonly string[] {
  const headers = [
    'Connection ""',
    'Host $http_host',
    'X-Forwarded-For $remote_addr',
    'X-Forwarded-Proto $scheme',
    'X-Forwarded-Host $http_host',
  ].map((header) => `proxy_set_header ${header};`);
  const server = `upstream app { server 127.0.0.1:${target}; keepalive 128; keepalive_requests 1000000000; }
server { listen 127.0.0.1:${port}; server_name app.test; keepalive_requests 1000000000; location / { proxy_pass http://app; proxy_http_version 1.1; ${headers.join(' ')} } }`;
  return ['-c', nginxConfig(folder, 'nginx', server)];
}

function nginxConfig(folder: string, name: string, servers: string): string {
  const temporary = join(folder, `${name}-temporary`);
  mkdirSync(temporary);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${temporary}/${kind};`,
  );
  const text = `user root;\nworker_processes 1;\ndaemon off;\npid ${folder}/${name}.pid;\nerror_log ${folder}/${name}.log crit;
events { worker_connections 4096; }\nhttp { access_log off; ${paths.join(' ')}\n${servers} }\n`;
  return write(folder, `${name}.conf`, text);
}

/** One thread, as ours is one process; `http-reuse always` shares what connections there are. */
function haproxyArgs({ folder, target }: Setting, port: number): readonly string[] {
  const config = `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend in
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  use_backend app if { req.hdr(host) -i app.test }
backend app
  server one 127.0.0.1:${target} pool-max-conn 128
`;
  return ['-f', write(folder, 'haproxy.cfg', config), '-db'];
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
