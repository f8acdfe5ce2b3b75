// A load from a process of its own, as in the network of another machine: node load-process.ts PORT HOST PATH
// It starts at once, and prints what became of the requests when its standard input ends.
import { startLoad } from './load.ts';

const [port, host, path] = process.argv.slice(2) as [string, string, string];
const load = startLoad({ port: Number(port), host, clients: 8, path: () => path, pause: 5 });
process.stdin.resume().on('end', () => {
  void load.stop().then(({ ok, failures }) => {
    process.stdout.write(JSON.stringify({ ok, failures }));
    process.exit(0);
  });
});
