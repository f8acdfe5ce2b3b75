import { type ConsoleServer, GOOD, OPERATOR, startConsole } from '../server.ts';

const SDL = `
  type User { id: ID! name: String! email: String! @unique }
  enum OrderState { PLACED PAID SHIPPED RETURNED }
  type Customer @auth(allow: [PUBLIC]) { id: ID! name: String! city: String! orders: [Order!]! createdAt: DateTime! }
  type Product @auth(allow: [PUBLIC]) { id: ID! name: String! price: Int! stock: Int! discontinued: Boolean! @default(value: false) }
  type Order @auth(allow: [PUBLIC]) { id: ID! number: String! @unique total: Int! state: OrderState! @default(value: PLACED) note: String customer: Customer! product: Product! createdAt: DateTime! }
  scalar DateTime
  type Query { customers(limit: Int): [Customer!]! customer(id: ID!): Customer products(limit: Int): [Product!]! product(id: ID!): Product orders(state: OrderState, limit: Int): [Order!]! order(id: ID!): Order }
  type Mutation {
    createCustomer(name: String!, city: String!): Customer! updateCustomer(id: ID!, name: String, city: String): Customer
    createProduct(name: String!, price: Int!, stock: Int!): Product! updateProduct(id: ID!, name: String, price: Int, stock: Int, discontinued: Boolean): Product
    createOrder(number: String!, total: Int!, state: OrderState, note: String, customerId: ID!, productId: ID!): Order! updateOrder(id: ID!, state: OrderState, note: String): Order deleteOrder(id: ID!): Boolean!
  }
`;

const MANIFEST = `
name: harbour-shop
api: { rest: true, access: public, introspection: always }
auth: { roles: { list: [Owner, Support, Member], first: Owner, default: Member } }
console: { roles: { Owner: ["*"], Support: ["data:read"] } }
`;

const NAMES = [
  'Ada Byron',
  'Grace Hopper',
  'Edsger Dijkstra',
  'Barbara Liskov',
  'Alan Kay',
  'Radia Perlman',
  'Donald Knuth',
  'Hedy Lamarr',
];
const CITIES = ['Hamburg', 'Lisbon', 'Oslo', 'Kyoto', 'Porto', 'Bergen'];
const THINGS = ['Storm lamp', 'Rope, 20 m', 'Compass', 'Oilskin coat', 'Sea chart', 'Brass bell'];
const STATES = ['PLACED', 'PAID', 'SHIPPED', 'RETURNED'];

/** A shop whose console has something to show: rows, users, events, requests, refusals. */
export async function startShop({ filled }: { filled: boolean }): Promise<ConsoleServer> {
  const server = await startConsole({ sdl: SDL, manifest: MANIFEST });
  if (!filled) return server;
  const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
  const as = { Authorization: `Bearer ${body.token}` };
  const make = (path: string, row: object) => server.call('POST', path, row, as);
  for (const [at, name] of NAMES.entries()) {
    await make('/api/customers', { name, city: CITIES[at % CITIES.length] });
    await make('/api/auth/register', {
      name,
      email: `${name.split(' ')[0]!.toLowerCase()}@example.com`,
      password: GOOD,
    });
  }
  for (const [at, name] of THINGS.entries())
    await make('/api/products', { name, price: 1200 + at * 850, stock: 40 - at * 6 });
  for (let at = 1; at <= 180; at += 1)
    await make('/api/orders', {
      number: `H-${String(2400 + at)}`,
      total: 1200 + ((at * 7919) % 90) * 100,
      state: STATES[(at * 7) % 4],
      ...(at % 5 === 0 && { note: 'Leave it with the harbour master' }),
      customerId: String(1 + (at % NAMES.length)),
      productId: String(1 + (at % THINGS.length)),
    });
  return server;
}

/** Requests of a shop that is open: some slow, some refused. Ends when the signal says so. */
export async function keepBusy(server: ConsoleServer, ended: AbortSignal): Promise<void> {
  for (let at = 0; !ended.aborted; at += 1) {
    await server.call('GET', `/api/orders?limit=${5 + (at % 40)}&include=customer`);
    if (at % 3 === 0)
      await server.call('POST', '/graphql', { query: '{ orders { id customer { name } } }' });
    if (at % 17 === 0) await server.call('GET', '/api/orders/999999');
    if (at % 23 === 0)
      await server.call('POST', '/api/auth/login', { email: 'eve@example.com', password: 'guess' });
    await new Promise((done) => setTimeout(done, 15 + (at % 60)));
  }
}
