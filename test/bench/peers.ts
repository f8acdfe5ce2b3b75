import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Says in one line what to run when the peers' packages are not there, and ends. */
export function requirePeers(): void {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const { dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const [missing] = Object.keys(dependencies).filter(
    (name) => !existsSync(at(`node_modules/${name}`)),
  );
  if (!missing) return;
  process.stderr.write(
    `The peers are not installed (${missing} is missing). Run: npm ci --prefix test/bench\n`,
  );
  process.exit(1);
}
