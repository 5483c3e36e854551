export { agentTools, type AgentToolsOptions, type SupervisorForAgents } from "./agents/tools.ts";
