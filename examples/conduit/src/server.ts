import { createServer } from '@twofold/runtime';
import { app } from './generated/app.ts';

const server = createServer(app);

// Add what every request passes through: server.use(async (ctx, next) => { … })

// Listens where PORT and HOST say, or the manifest.
await server.serve();
