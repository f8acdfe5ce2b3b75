/**
 * A schema of 56 tables, as those that are imported from a database: shops and staff, films, music,
 * and what a service that is sold by subscription has. A line is a table: its columns (String without
 * a type) and behind `>` the tables that its foreign keys refer to.
 */
const TABLES = `
Country       name!@ code! > 
City          name! population:Int > Country!
Address       street! district postalCode phone updatedAt:DateTime! > City!
Language      name!@ code!
Store         name! openedOn:Date active:Boolean! > Address! Region
Region        name!@ position:Int! taxed:Boolean!
Employee      firstName! lastName! email!@ hiredOn:Date active:Boolean! > Store! Address Department
Department    name!@ budget:Decimal floor:Int
Customer      firstName! lastName! email!@ active:Boolean! createdAt:DateTime! > Address Store!
Film          title! description releaseYear:Int rentalRate:Decimal! length:Int rating:Rating updatedAt:DateTime! > Language!
Actor         firstName! lastName! bornOn:Date
FilmActor     position:Int! role > Film! Actor!
Category      name!@ position:Int!
FilmCategory  featured:Boolean! addedAt:DateTime! > Film! Category!
Inventory     shelf boughtOn:Date condition:Int! > Film! Store!
Rental        rentedAt:DateTime! returnedAt:DateTime fee:Decimal! > Inventory! Customer! Employee!
Payment       amount:Decimal! paidAt:DateTime! reference status:PaymentStatus! > Rental Customer!
Artist        name! country bornOn:Date
Album         title! releasedOn:Date rank:Int > Artist!
Genre         name!@ position:Int!
MediaType     name!@ extension lossless:Boolean!
Track         name! composer milliseconds:Int! unitPrice:Decimal! > Album MediaType! Genre
Playlist      name! public:Boolean! createdAt:DateTime! >
PlaylistTrack position:Int! addedAt:DateTime! > Playlist! Track!
Invoice       number!@ issuedAt:DateTime! total:Decimal! currency! status:PaymentStatus! > Customer!
InvoiceLine   quantity:Int! unitPrice:Decimal! text > Invoice! Track
Supplier      name! email phone rating:Float >
Product       name! sku!@ price:Decimal! active:Boolean! createdAt:DateTime! > Supplier Category
ProductImage  url! alt position:Int!  > Product!
Warehouse     name! capacity:Int open:Boolean! > Address!
Stock         quantity:Int! reserved:Int! countedAt:DateTime > Product! Warehouse!
Purchase      number!@ orderedAt:DateTime! receivedAt:DateTime total:Decimal! > Supplier!
PurchaseLine  quantity:Int! unitPrice:Decimal! discount:Float > Purchase! Product!
Carrier       name!@ website
Shipment      trackingCode shippedAt:DateTime deliveredAt:DateTime > Invoice! Carrier! Warehouse!
Review        stars:Int! title body createdAt:DateTime! > Product! Customer!
Workspace     name! slug!@ createdAt:DateTime! trialEndsAt:DateTime active:Boolean!
Plan          name!@ price:Decimal! seats:Int! description active:Boolean!
Contract      startedAt:DateTime! endsAt:DateTime status:PaymentStatus! seats:Int! > Workspace! Plan!
Coupon        code!@ percent:Int! expiresAt:DateTime uses:Int! >
Member        name! email!@ role:Role! joinedAt:DateTime! active:Boolean! > Workspace!
Team          name! color description createdAt:DateTime! > Workspace! Member
Project       name! key!@ description startsOn:Date archived:Boolean! > Team! Member
Milestone     title! dueOn:Date closedAt:DateTime progress:Float > Project!
Task          title! body state:TaskState! dueOn:Date createdAt:DateTime! > Project! Milestone Member
TaskComment   body! createdAt:DateTime! editedAt:DateTime > Task! Member!
Attachment    fileName! mediaType! bytes:Int! url! createdAt:DateTime! > Task! Member
Label         name! color! description > Project!
TaskLabel     addedAt:DateTime! > Task! Label!
TimeEntry     startedAt:DateTime! minutes:Int! billable:Boolean! note > Task! Member!
Webhook       url! secret active:Boolean! createdAt:DateTime! failures:Int! > Workspace!
Delivery      status:Int! sentAt:DateTime! milliseconds:Int > Webhook!
Feature       key!@ name! description enabled:Boolean!
PlanFeature   limit:Int addedAt:DateTime! > Plan! Feature!
Usage         day:Date! amount:Int! unit > Workspace! Feature!
Event         name! at:DateTime! detail > Workspace! Member
`;

const ENUMS = `
enum Rating {
  G
  PG
  R
}

enum PaymentStatus {
  OPEN
  PAID
  REFUNDED
}

enum Role {
  OWNER
  MEMBER
  GUEST
}

enum TaskState {
  TODO
  DOING
  DONE
}`;

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly parents: readonly string[];
}

/** The schema of all tables, with both ends of every relation. */
export function manyTables(): string {
  const tables = TABLES.trim().split('\n').map(readTable);
  const types = tables.map(({ name, columns, parents }) => {
    const lists = tables.filter((child) => child.parents.some((each) => bare(each) === name));
    const fields = [
      'id: ID!',
      ...columns,
      ...parents.map((parent) => `${lowerFirst(bare(parent))}: ${parent}`),
      ...lists.map((child) => `${plural(lowerFirst(child.name))}: [${child.name}!]!`),
    ];
    return `type ${name} {\n${fields.map((field) => `  ${field}`).join('\n')}\n}`;
  });
  const scalars = ['Date', 'DateTime', 'Decimal'].map((name) => `scalar ${name}`).join('\n');
  return `${scalars}\n${ENUMS}\n\n${types.join('\n\n')}\n`;
}

function readTable(line: string): Table {
  const [own = '', parents = ''] = line.split('>');
  const [name = '', ...columns] = own.trim().split(/ +/);
  return {
    name,
    columns: columns.map(readColumn),
    parents: parents.trim().split(/ +/).filter(Boolean),
  };
}

/** `sku!@` → `sku: String! @unique` */
function readColumn(text: string): string {
  const [, name, type = 'String', required, unique] = /^(\w+)(?::(\w+))?(!?)(@?)$/.exec(text)!;
  return `${name}: ${type}${required}${unique && ' @unique'}`;
}

const bare = (type: string) => type.replace('!', '');

const lowerFirst = (name: string) => name[0]!.toLowerCase() + name.slice(1);

const plural = (name: string) =>
  name.replace(/y$/, 'ie').replace(/s$/, 'se').replace(/ch$/, 'che') + 's';
