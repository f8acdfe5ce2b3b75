// eval "$(npx node test/engines/start.ts)" starts every service that this machine has the programs for.
// Names as arguments start only those. Services that already run are kept, and exported again.
import {
  createDirectory,
  currentDirectory,
  directoryVariable,
  loadExports,
  removeDirectory,
  saveExports,
  serviceDirectory,
} from './directory.ts';
import { services } from './services.ts';
import type { ServiceName } from './services.ts';

const known = Object.keys(services) as ServiceName[];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in services));
if (unknown.length > 0) {
  console.error(`unknown service ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  process.exit(2);
}

const root = currentDirectory() ?? createDirectory();
print({ [directoryVariable]: root });
const results = await Promise.all(
  known.filter((name) => wanted.length === 0 || wanted.includes(name)).map(startOne),
);
process.exitCode = results.every(Boolean) ? 0 : 1;

async function startOne(name: ServiceName): Promise<boolean> {
  const { runs, start, stop, title } = services[name];
  const directory = serviceDirectory(root, name);
  if (runs(directory)) return print(loadExports(directory));
  try {
    await stop(directory);
    removeDirectory(directory);
    const exports = await start(serviceDirectory(root, name));
    saveExports(directory, exports);
    return print(exports);
  } catch (error) {
    console.error(`${title} was not started: ${(error as Error).message}`);
    await stop(directory).catch((second: Error) =>
      console.error(`and it left something behind: ${second.message}`),
    );
    return false;
  }
}

function print(exports: Record<string, string>): true {
  for (const [name, value] of Object.entries(exports)) console.log(`export ${name}='${value}'`);
  return true;
}
