import "./world.css";
import { useParameters } from "../../address.ts";
import { TabLinks } from "../../components/layout.tsx";
import { Compare } from "./compare.tsx";
import { Departments } from "./departments.tsx";
import { Records } from "./records.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Usage } from "./usage.tsx";

const TABS = [
  { id: "records", title: "Records", parameters: {}, show: Records },
  { id: "departments", title: "Departments", parameters: { show: "departments" }, show: Departments },
  { id: "usage", title: "Usage", parameters: { show: "usage" }, show: Usage },
  { id: "snapshots", title: "Snapshots", parameters: { show: "snapshots" }, show: Snapshots },
  { id: "compare", title: "Compare", parameters: { show: "compare" }, show: Compare },
];

export default function World() {
  const wanted = useParameters().get("show");
  const { id, show: Show } = TABS.find((tab) => tab.id === wanted) ?? TABS[0]!;
  return (
    <>
      <div className="world-head">
        <h1>World</h1>
        <TabLinks label="Parts of the world" view="world" tabs={TABS} current={id} />
      </div>
      <Show />
    </>
  );
}
