import type { HostPlace } from './place.ts';

/** What both services may not do. `systemd-analyze security` rates it; a test holds the rating. */
const SANDBOX = `NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
UMask=0077`;

/** Where the launcher of the ingress accepts commands of the server. */
const LAUNCHER = '/run/twofold/launcher';

/** The package of the release, wherever its modules are. */
const LAUNCH = `import { serveLauncher } from '@twofold/hosting/launcher'; serveLauncher('${LAUNCHER}')`;

/** A `%` begins a specifier of systemd, and a line is a setting. */
const described = (name: string) => name.replaceAll('%', '%%').replace(/\s+/g, ' ');

function service({ user, dir }: HostPlace): string {
  return `User=${user}
Group=${user}
WorkingDirectory=${dir}/current
RuntimeDirectory=twofold
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
ReadWritePaths=${dir}/data
Restart=always
RestartSec=1
LimitNOFILE=65536`;
}

/** `twofold.service`: the API and what looks after the apps. A restart lets requests wait. */
export function serverUnit(name: string, place: HostPlace): string {
  return `# Written by "generator host install"; a change is kept in: systemctl edit twofold
[Unit]
Description=${described(name)}: the server
Wants=network-online.target twofold-ingress.service
After=network-online.target twofold-ingress.service docker.service podman.socket
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${place.dir}/current/bin/node src/server.ts
Environment=NODE_ENV=production MIGRATE=on NODE_COMPILE_CACHE=/var/cache/twofold MALLOC_ARENA_MAX=2
Environment=HOSTING_LAUNCHER=${LAUNCHER}
EnvironmentFile=/etc/twofold/env
${service(place)}
CacheDirectory=twofold
CacheDirectoryMode=0700
KillMode=mixed
TimeoutStopSec=60
CapabilityBoundingSet=
${SANDBOX}

[Install]
WantedBy=multi-user.target
`;
}

/**
 * `twofold-ingress.service`: has the ports 80 and 443. Its first process only starts ingress
 * processes for the server, so an upgrade exchanges them below it, and it is never restarted.
 */
export function ingressUnit(name: string, place: HostPlace): string {
  return `# Written by "generator host install"; a change is kept in: systemctl edit twofold-ingress
[Unit]
Description=${described(name)}: the ingress
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${place.dir}/current/bin/node --input-type=module --eval "${LAUNCH}"
${service(place)}
TimeoutStopSec=20
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
${SANDBOX}

[Install]
WantedBy=multi-user.target
`;
}

/** Lets the group of the service use the socket of Podman, which belongs to root alone. */
export function podmanDropIn({ user }: HostPlace): string {
  return `# Written by "generator host install"
[Socket]
SocketGroup=${user}
SocketMode=0660
`;
}

export function usersFile({ user, dir }: HostPlace, docker: boolean): string {
  const group = docker ? `g docker -\nm ${user} docker\n` : '';
  return `u ${user} - "Twofold" ${dir} /usr/sbin/nologin\n${group}`;
}

export function foldersFile({ user, dir }: HostPlace): string {
  return `d ${dir} 0755 root root -
d ${dir}/releases 0755 root root -
d ${dir}/data 0750 ${user} ${user} -
`;
}
