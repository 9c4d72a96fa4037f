import { TabbedView } from "../../components/layout.tsx";
import { Compare } from "./compare.tsx";
import { Departments } from "./departments.tsx";
import { Records } from "./records.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Usage } from "./usage.tsx";
import "./world.css";

const TABS = [
  { id: "records", title: "Records", Part: Records },
  { id: "departments", title: "Departments", Part: Departments },
  { id: "usage", title: "Usage", Part: Usage },
  { id: "snapshots", title: "Snapshots", Part: Snapshots },
  { id: "compare", title: "Compare", Part: Compare },
];

export default function World() {
  return <TabbedView title="World" label="Parts of the world" view="world" tabs={TABS} />;
}
