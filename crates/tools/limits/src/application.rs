//! The virtual directories of an Exchange server through which clients send messages.

use std::fmt;

/// Protocol of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Outlook on the web.
    Owa,
    /// Exchange Web Services.
    Ews,
    /// Exchange `ActiveSync`.
    ActiveSync,
    /// The REST interface.
    Rest,
    /// The Exchange admin center.
    Ecp,
    /// MAPI over HTTP: mailboxes.
    Mapi,
    /// MAPI over HTTP: the address book.
    MapiNspi,
    /// RPC over HTTP, Outlook Anywhere.
    Rpc,
    /// Autodiscover.
    Autodiscover,
    /// The offline address book.
    Oab,
    /// Remote `PowerShell`.
    PowerShell,
    /// Push notifications.
    Push,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Owa => "OWA",
            Self::Ews => "EWS",
            Self::ActiveSync => "ActiveSync",
            Self::Rest => "REST",
            Self::Ecp => "ECP",
            Self::Mapi => "MAPI",
            Self::MapiNspi => "MAPI address book",
            Self::Rpc => "RPC",
            Self::Autodiscover => "Autodiscover",
            Self::Oab => "OAB",
            Self::PowerShell => "PowerShell",
            Self::Push => "Push",
        })
    }
}

/// Half of the server; every request passes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The proxy that clients reach.
    FrontEnd,
    /// The service behind it.
    BackEnd,
}

impl Side {
    /// Name of its site in IIS.
    pub fn site(self) -> &'static str {
        match self {
            Self::FrontEnd => "Default Web Site",
            Self::BackEnd => "Exchange Back End",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FrontEnd => "front end",
            Self::BackEnd => "back end",
        })
    }
}

/// A virtual directory with its own configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its protocol.
    pub protocol: Protocol,
    /// Front or back end.
    pub side: Side,
    /// Its path within the site.
    pub path: &'static str,
    /// Its folder below the folder in which Exchange is installed.
    pub folder: &'static str,
    /// Its name in collections of configuration files, such as `DefaultWebSite-OWA_web.config`.
    collected: &'static str,
}

impl Application {
    /// Site and path, as `<location>` in applicationHost.config names them.
    pub fn location(&self) -> String {
        format!("{}{}", self.side.site(), self.path)
    }

    /// Name of its file in a folder of collected files.
    pub fn collected_name(&self) -> String {
        let site: String = self.side.site().split(' ').collect();
        format!("{site}-{}_web.config", self.collected)
    }
}

const fn row(
    protocol: Protocol,
    side: Side,
    path: &'static str,
    folder: &'static str,
    collected: &'static str,
) -> Application {
    Application { protocol, side, path, folder, collected }
}

use Protocol::{
    ActiveSync, Autodiscover, Ecp, Ews, Mapi, MapiNspi, Oab, Owa, PowerShell, Push, Rest, Rpc,
};
use Side::{BackEnd, FrontEnd};

/// Every virtual directory of Exchange 2013 to Subscription Edition, as applicationHost.config of
/// such servers names them.
pub const APPLICATIONS: [Application; 22] = [
    row(Owa, FrontEnd, "/owa", "FrontEnd/HttpProxy/owa", "OWA"),
    row(Owa, BackEnd, "/owa", "ClientAccess/Owa", "OWA"),
    row(Ews, FrontEnd, "/EWS", "FrontEnd/HttpProxy/ews", "EWS"),
    row(Ews, BackEnd, "/EWS", "ClientAccess/exchweb/ews", "EWS"),
    row(ActiveSync, FrontEnd, "/Microsoft-Server-ActiveSync", "FrontEnd/HttpProxy/Sync", "EAS"),
    row(ActiveSync, BackEnd, "/Microsoft-Server-ActiveSync", "ClientAccess/Sync", "EAS"),
    row(Rest, FrontEnd, "/API", "FrontEnd/HttpProxy/Rest", "Rest"),
    row(Rest, BackEnd, "/API", "ClientAccess/rest", "Rest"),
    row(Ecp, FrontEnd, "/ecp", "FrontEnd/HttpProxy/ecp", "ECP"),
    row(Ecp, BackEnd, "/ecp", "ClientAccess/ecp", "ECP"),
    row(Mapi, FrontEnd, "/mapi", "FrontEnd/HttpProxy/mapi", "MAPI"),
    row(Mapi, BackEnd, "/mapi/emsmdb", "ClientAccess/mapi/emsmdb", "MapiEmsmdb"),
    row(MapiNspi, BackEnd, "/mapi/nspi", "ClientAccess/mapi/nspi", "MapiNspi"),
    row(Rpc, FrontEnd, "/Rpc", "FrontEnd/HttpProxy/rpc", "RPC"),
    row(Rpc, BackEnd, "/Rpc", "RpcProxy", "RPC"),
    row(Autodiscover, FrontEnd, "/Autodiscover", "FrontEnd/HttpProxy/Autodiscover", "AutoD"),
    row(Autodiscover, BackEnd, "/Autodiscover", "ClientAccess/Autodiscover", "AutoD"),
    row(Oab, FrontEnd, "/OAB", "FrontEnd/HttpProxy/OAB", "OAB"),
    row(Oab, BackEnd, "/OAB", "ClientAccess/OAB", "OAB"),
    row(PowerShell, FrontEnd, "/PowerShell", "FrontEnd/HttpProxy/PowerShell", "PowerShell"),
    row(PowerShell, BackEnd, "/PowerShell", "ClientAccess/PowerShell-Proxy", "PowerShell"),
    row(Push, BackEnd, "/PushNotifications", "ClientAccess/PushNotifications", "Push"),
];
