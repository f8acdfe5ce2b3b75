import type { Template, TemplateEnv } from './template.ts';

const given = (key: string, description: string, value: string): TemplateEnv => ({
  key,
  description,
  secret: false,
  default: value,
});
const secret = (key: string, description: string, generate = 32): TemplateEnv => ({
  key,
  description,
  secret: true,
  generate,
});
const required = (key: string, description: string): TemplateEnv => ({
  key,
  description,
  secret: false,
  required: true,
});

type Row = readonly [
  id: string,
  name: string,
  description: string,
  image: string,
  port: number,
  volumes: Readonly<Record<string, string>>,
  env: readonly TemplateEnv[],
  command?: readonly string[],
];

const ADMIN_EMAIL = required('ADMIN_EMAIL', 'E-mail address of the first user');
const TIME_ZONE = given('TZ', 'Time zone', 'UTC');

/** The built-in templates, by category. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  database: [
    [
      'postgres',
      'PostgreSQL',
      'Relational database',
      'docker.io/library/postgres:17.2',
      5432,
      { data: '/var/lib/postgresql/data' },
      [
        given('POSTGRES_USER', 'First user', 'app'),
        secret('POSTGRES_PASSWORD', 'Password of the first user'),
        given('POSTGRES_DB', 'First database', 'app'),
        given(
          'PGDATA',
          'Folder below the volume, which is not empty on some disks',
          '/var/lib/postgresql/data/pgdata',
        ),
      ],
    ],
    [
      'mysql',
      'MySQL',
      'Relational database',
      'docker.io/library/mysql:8.4.3',
      3306,
      { data: '/var/lib/mysql' },
      [
        secret('MYSQL_ROOT_PASSWORD', 'Password of root'),
        given('MYSQL_DATABASE', 'First database', 'app'),
        given('MYSQL_USER', 'First user', 'app'),
        secret('MYSQL_PASSWORD', 'Password of the first user'),
      ],
    ],
    [
      'mariadb',
      'MariaDB',
      'Relational database',
      'docker.io/library/mariadb:11.4.4',
      3306,
      { data: '/var/lib/mysql' },
      [
        secret('MARIADB_ROOT_PASSWORD', 'Password of root'),
        given('MARIADB_DATABASE', 'First database', 'app'),
        given('MARIADB_USER', 'First user', 'app'),
        secret('MARIADB_PASSWORD', 'Password of the first user'),
      ],
    ],
    [
      'mongodb',
      'MongoDB',
      'Document database',
      'docker.io/library/mongo:7.0.16',
      27017,
      { data: '/data/db' },
      [
        given('MONGO_INITDB_ROOT_USERNAME', 'Administrator', 'admin'),
        secret('MONGO_INITDB_ROOT_PASSWORD', 'Password of the administrator'),
      ],
    ],
    [
      'redis',
      'Redis',
      'Key-value store',
      'docker.io/library/redis:7.4.1',
      6379,
      { data: '/data' },
      [secret('REDIS_PASSWORD', 'Password')],
      ['sh', '-c', 'exec redis-server --appendonly yes --requirepass "$REDIS_PASSWORD"'],
    ],
    [
      'valkey',
      'Valkey',
      'Key-value store',
      'docker.io/valkey/valkey:8.0.1',
      6379,
      { data: '/data' },
      [secret('VALKEY_PASSWORD', 'Password')],
      ['sh', '-c', 'exec valkey-server --appendonly yes --requirepass "$VALKEY_PASSWORD"'],
    ],
    [
      'clickhouse',
      'ClickHouse',
      'Column database for analytics',
      'docker.io/clickhouse/clickhouse-server:24.8.8',
      8123,
      { data: '/var/lib/clickhouse' },
      [
        given('CLICKHOUSE_USER', 'First user', 'app'),
        secret('CLICKHOUSE_PASSWORD', 'Password of the first user'),
      ],
    ],
  ],
  messaging: [
    [
      'rabbitmq',
      'RabbitMQ',
      'Message broker with its management pages',
      'docker.io/library/rabbitmq:4.0.4-management',
      15672,
      { data: '/var/lib/rabbitmq' },
      [
        given('RABBITMQ_DEFAULT_USER', 'First user', 'admin'),
        secret('RABBITMQ_DEFAULT_PASS', 'Password of the first user'),
      ],
    ],
    [
      'nats',
      'NATS',
      'Message broker',
      'docker.io/library/nats:2.10.22',
      8222,
      { data: '/data' },
      [],
      ['--jetstream', '--store_dir', '/data', '--http_port', '8222'],
    ],
    [
      'ntfy',
      'ntfy',
      'Notifications over HTTP',
      'docker.io/binwiederhier/ntfy:v2.11.0',
      80,
      { cache: '/var/cache/ntfy' },
      [given('NTFY_BASE_URL', 'Public address', '{{url}}')],
      ['serve'],
    ],
  ],
  search: [
    [
      'meilisearch',
      'Meilisearch',
      'Search engine',
      'docker.io/getmeili/meilisearch:v1.12.0',
      7700,
      { data: '/meili_data' },
      [secret('MEILI_MASTER_KEY', 'Master key'), given('MEILI_ENV', 'Mode', 'production')],
    ],
    [
      'typesense',
      'Typesense',
      'Search engine',
      'docker.io/typesense/typesense:27.1',
      8108,
      { data: '/data' },
      [
        secret('TYPESENSE_API_KEY', 'Key'),
        given('TYPESENSE_DATA_DIR', 'Folder of the data', '/data'),
      ],
    ],
  ],
  storage: [
    [
      'minio',
      'MinIO',
      'Object storage',
      'docker.io/minio/minio:RELEASE.2024-11-07T00-52-20Z',
      9000,
      { data: '/data' },
      [
        given('MINIO_ROOT_USER', 'Administrator', 'admin'),
        secret('MINIO_ROOT_PASSWORD', 'Password of the administrator'),
      ],
      ['server', '/data', '--console-address', ':9001'],
    ],
    [
      'filebrowser',
      'File Browser',
      'Files in the browser',
      'docker.io/filebrowser/filebrowser:v2.31.2',
      80,
      { files: '/srv', database: '/database' },
      [given('FB_DATABASE', 'File of its database', '/database/filebrowser.db')],
    ],
    [
      'nextcloud',
      'Nextcloud',
      'Files, calendars and contacts',
      'docker.io/library/nextcloud:30.0.2',
      80,
      { data: '/var/www/html' },
      [
        given('NEXTCLOUD_TRUSTED_DOMAINS', 'Host name', '{{domain}}'),
        given('NEXTCLOUD_ADMIN_USER', 'Administrator', 'admin'),
        secret('NEXTCLOUD_ADMIN_PASSWORD', 'Password of the administrator'),
      ],
    ],
  ],
  admin: [
    [
      'adminer',
      'Adminer',
      'Databases in the browser',
      'docker.io/library/adminer:4.8.1',
      8080,
      {},
      [],
    ],
    [
      'phpmyadmin',
      'phpMyAdmin',
      'MySQL in the browser',
      'docker.io/library/phpmyadmin:5.2.1',
      80,
      {},
      [given('PMA_ARBITRARY', 'Ask for the server', '1')],
    ],
    [
      'pgadmin',
      'pgAdmin',
      'PostgreSQL in the browser',
      'docker.io/dpage/pgadmin4:8.13',
      80,
      { data: '/var/lib/pgadmin' },
      [
        required('PGADMIN_DEFAULT_EMAIL', 'E-mail address of the first user'),
        secret('PGADMIN_DEFAULT_PASSWORD', 'Password of the first user'),
      ],
    ],
  ],
  cms: [
    [
      'ghost',
      'Ghost',
      'Blog and newsletter',
      'docker.io/library/ghost:5.101.3',
      2368,
      { content: '/var/lib/ghost/content' },
      [
        given('url', 'Public address', '{{url}}'),
        given('database__client', 'Database', 'sqlite3'),
        given(
          'database__connection__filename',
          'File of the database',
          '/var/lib/ghost/content/data/ghost.db',
        ),
      ],
    ],
    [
      'directus',
      'Directus',
      'Data platform over SQL',
      'docker.io/directus/directus:11.3.2',
      8055,
      { database: '/directus/database', uploads: '/directus/uploads' },
      [
        secret('SECRET', 'Signing key', 48),
        ADMIN_EMAIL,
        secret('ADMIN_PASSWORD', 'Password of the first user'),
        given('DB_CLIENT', 'Database', 'sqlite3'),
        given('DB_FILENAME', 'File of the database', '/directus/database/data.db'),
        given('PUBLIC_URL', 'Public address', '{{url}}'),
      ],
    ],
    [
      'drupal',
      'Drupal',
      'Content management',
      'docker.io/library/drupal:11.0.9',
      80,
      { sites: '/var/www/html/sites' },
      [],
    ],
    [
      'mediawiki',
      'MediaWiki',
      'Wiki',
      'docker.io/library/mediawiki:1.43.0',
      80,
      { images: '/var/www/html/images' },
      [],
    ],
    [
      'pocketbase',
      'PocketBase',
      'Backend in one file',
      'ghcr.io/muchobien/pocketbase:0.23.4',
      8090,
      { data: '/pb_data' },
      [],
    ],
  ],
  development: [
    [
      'gitea',
      'Gitea',
      'Git hosting',
      'docker.io/gitea/gitea:1.22.4',
      3000,
      { data: '/data' },
      [
        given('GITEA__server__ROOT_URL', 'Public address', '{{url}}'),
        given('GITEA__server__DOMAIN', 'Host name', '{{domain}}'),
      ],
    ],
    [
      'code-server',
      'code-server',
      'Editor in the browser',
      'docker.io/codercom/code-server:4.95.3',
      8080,
      { home: '/home/coder' },
      [secret('PASSWORD', 'Password'), given('CS_DISABLE_TELEMETRY', 'No telemetry', '1')],
    ],
    [
      'registry',
      'Registry',
      'Container images',
      'docker.io/library/registry:2.8.3',
      5000,
      { data: '/var/lib/registry' },
      [],
    ],
    ['hello', 'Hello', 'A page that says it works', 'docker.io/traefik/whoami:v1.10.3', 80, {}, []],
    [
      'nginx',
      'nginx',
      'Web server',
      'docker.io/library/nginx:1.27.3',
      80,
      { html: '/usr/share/nginx/html' },
      [],
    ],
  ],
  monitoring: [
    [
      'uptime-kuma',
      'Uptime Kuma',
      'Watches your sites',
      'docker.io/louislam/uptime-kuma:1.23.16',
      3001,
      { data: '/app/data' },
      [],
    ],
    [
      'grafana',
      'Grafana',
      'Dashboards',
      'docker.io/grafana/grafana:11.4.0',
      3000,
      { data: '/var/lib/grafana' },
      [
        secret('GF_SECURITY_ADMIN_PASSWORD', 'Password of admin'),
        given('GF_SERVER_ROOT_URL', 'Public address', '{{url}}'),
      ],
    ],
    [
      'prometheus',
      'Prometheus',
      'Metrics',
      'docker.io/prom/prometheus:v3.0.1',
      9090,
      { data: '/prometheus' },
      [],
    ],
  ],
  automation: [
    [
      'n8n',
      'n8n',
      'Workflows',
      'docker.io/n8nio/n8n:1.70.3',
      5678,
      { data: '/home/node/.n8n' },
      [
        given('WEBHOOK_URL', 'Public address', '{{url}}'),
        secret('N8N_ENCRYPTION_KEY', 'Key of stored credentials'),
      ],
    ],
    [
      'nodered',
      'Node-RED',
      'Flows between devices and services',
      'docker.io/nodered/node-red:4.0.5',
      1880,
      { data: '/data' },
      [TIME_ZONE],
    ],
    [
      'flowise',
      'Flowise',
      'Language model flows',
      'docker.io/flowiseai/flowise:2.2.2',
      3000,
      { data: '/root/.flowise' },
      [given('FLOWISE_USERNAME', 'User', 'admin'), secret('FLOWISE_PASSWORD', 'Password')],
    ],
  ],
  ai: [
    [
      'ollama',
      'Ollama',
      'Language models',
      'docker.io/ollama/ollama:0.5.1',
      11434,
      { models: '/root/.ollama' },
      [],
    ],
  ],
  security: [
    [
      'vaultwarden',
      'Vaultwarden',
      'Password manager',
      'docker.io/vaultwarden/server:1.32.5',
      80,
      { data: '/data' },
      [
        secret('ADMIN_TOKEN', 'Token of the admin page', 48),
        given('DOMAIN', 'Public address', '{{url}}'),
      ],
    ],
  ],
  media: [
    [
      'jellyfin',
      'Jellyfin',
      'Films and music',
      'docker.io/jellyfin/jellyfin:10.10.3',
      8096,
      { config: '/config', cache: '/cache', media: '/media' },
      [],
    ],
  ],
  communication: [
    [
      'mattermost',
      'Mattermost',
      'Team chat',
      'docker.io/mattermost/mattermost-team-edition:10.2.0',
      8065,
      { data: '/mattermost/data', config: '/mattermost/config' },
      [
        given('MM_SERVICESETTINGS_SITEURL', 'Public address', '{{url}}'),
        required('MM_SQLSETTINGS_DATASOURCE', 'postgres:// address of its database'),
      ],
    ],
  ],
};

/** Every built-in template, by id. */
export const catalogue: readonly Template[] = Object.entries(ROWS)
  .flatMap(([category, rows]) => rows.map((row) => toTemplate(category, row)))
  .sort((a, b) => (a.id < b.id ? -1 : 1));

function toTemplate(
  category: string,
  [id, name, description, image, port, volumes, env, command]: Row,
): Template {
  const mounts = Object.entries(volumes).map(([volume, path]) => ({ name: volume, path }));
  return {
    id,
    name,
    description,
    category,
    image,
    port,
    env,
    volumes: mounts,
    ...(command && { command }),
  };
}
